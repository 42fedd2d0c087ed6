/** @file What stands below the flags in the help of each command. */
const EXIT_CODES = `
Exit codes: 0 done (also when stopped early by the first Ctrl-C), 1 failed, 2 misused, 130 stopped at once.`;

/** What `monolith` alone prints. */
export const FIRST_WORDS = `monolith trains recommender models on tables of data, on every core of this machine. Try:
  monolith train --data demo:clicks              made-up clicks, to see what it does
  monolith train --data yours.csv --label click  a model of your own table
  monolith init                                  a project to go on from
monolith help lists all commands, monolith help train the flags of one.
Without an install, npx monolith-ts stands for monolith.
`;

export const ROOT_HELP = `
Examples:
  monolith train --data ratings.csv --label 'rating>=3.5'
  monolith train                          train the demo model on all cores
  monolith eval runs/ratings              what a run comes to on the rows it held out
  monolith recommend runs/ratings --for userId=42
  monolith data stat ratings.csv          what the columns of a file are
  monolith train --help                   all flags of training
  monolith plan --rows 10m --dims 16      what a table of 10 million ids will take
  monolith inspect runs/ffm               what a checkpoint holds
  monolith checkpoint list runs/ffm       the checkpoints of a model directory
  monolith trace runs/trace.json          where the time of a traced run went
  monolith export runs/taste --to export/taste
  monolith serve export/taste             answer requests for predictions
  monolith doctor                         check this machine
${EXIT_CODES}`;

export const EXPORT_HELP = `
Examples:
  monolith export runs/ratings --to export/ratings
  monolith export runs/ratings --to export/ratings --formats native,onnx,savedModel
  monolith export runs/ratings --to export/small --compress fp16

The native format is compared with the training it came from, and the largest difference printed.`;

export const IMPORT_HELP = `
Examples:
  monolith import export/ratings
  monolith import export/ratings/1763452800 --json
  monolith import old/model.ckpt-900.assets
  monolith import old/model.ckpt-900.assets --into runs/ratings --out runs/changed --map user=fc_slot_1

No code of the folder is run, and nothing outside of it is read.`;

export const SERVE_HELP = `
Examples:
  monolith serve export/taste
  monolith serve taste=export/taste clicks=export/clicks --port 9000
  monolith serve --follow runs/ratings
  monolith serve export/taste --host 0.0.0.0 --token s3cret --tls-cert cert.pem --tls-key key.pem

Paths and bodies are those of TensorFlow Serving. New versions are taken as they come, and those that fail are not.
SIGTERM and Ctrl-C let what was asked be answered, for 10 seconds at the most.`;

export const TRAIN_HELP = `
Examples:
  monolith train --data ratings.csv --label 'rating>=3.5' --with movies.csv:movieId
  monolith train model.ts
  monolith train --steps 500
  monolith train --model-dir runs/ffm --save-every 1000
  monolith train --threads 4 --batch-size 512 --trace runs/trace.json
  monolith train --json --quiet
  monolith train --config small.json --dry-run
  monolith train --backend cuda --cuda-driver sim --steps 200
  monolith train --data reference --backend reference --threads 1 --deterministic
${EXIT_CODES}
The first Ctrl-C saves (with --model-dir) and stops; the same command goes on from there.`;

export const INSPECT_HELP = `
Examples:
  monolith inspect runs/ffm                          the newest checkpoint of a model directory
  monolith inspect runs/ffm/model.ckpt-2000 --quick  names and sizes only
  monolith inspect runs/ffm --id 281474976710657     the row of one id
  monolith inspect runs/ffm --slots --top 20
  monolith inspect tables/MonolithHashTable_a-00000-of-00004 --json

Reads every row once, checks its checksum, and changes nothing. Files of other writers work too.`;

export const CHECKPOINT_HELP = `
Examples:
  monolith checkpoint list runs/ffm
  monolith checkpoint verify runs/ffm                          every checkpoint, every byte
  monolith checkpoint copy runs/ffm/model.ckpt-2000 runs/next  it is the latest of runs/next then
  monolith checkpoint prune runs/ffm --keep 2                  what would be deleted; --yes deletes it

list and verify only read. verify exits with 1 when a checkpoint is damaged.`;

export const DOCTOR_HELP = `
Examples:
  monolith doctor
  monolith doctor --json

Exits with 1 only when training cannot work on this machine. A GPU is never required.`;

export const TRACE_HELP = `
Examples:
  monolith train --trace runs/trace.json
  monolith trace runs/trace.json --top 10
  monolith trace runs/trace.json --json
  monolith trace runs/trace.json --html   a page with the timeline, for any browser

The file opens in https://ui.perfetto.dev and chrome://tracing too.`;

export const REPORT_HELP = `
Examples:
  monolith report runs/ratings
  monolith report runs/ratings --out ratings.html
  monolith report events.jsonl              of a run on another machine: the one file is enough

Every training makes one at its end; this makes it again, also of a run that was killed or is under way.`;

export const RUN_USAGE = 'Usage: monolith run <native|gpu|tpu> [flags]\n';
export const RUN_HELP = `
Examples:
  monolith run native --is_local --model_dir=runs/a --params_override='{"train.max_steps": 500}'
  monolith run native --mode=eval --model_dir=runs/a
  monolith run gpu --task=ffm --mode=train_and_eval --model_dir=runs/b --params_override='{"train.max_steps": 500}'
  monolith run native --help                  all flags of RunnerConfig
  monolith run native --num_ps=2 --dry_run    what they come to, and where from

Flags are written as in the reference: --num_ps=2, --is_local, --nois_local.`;

export const PLAN_HELP = `
Examples:
  monolith plan --rows 10m --dims 16,1 --optimizer adagrad,ftrl
  monolith plan --rows 1.5b --dims 32 --shards 8
  monolith plan --rows 50m --dims 16 --optimizer adam --budget 8g --json

Sizes are those of ids without a pattern; a few percent either way. Exits with 1 when the table does not fit --budget.`;

export const COMPLETION_HELP = `
Examples:
  monolith completion bash > ~/.local/share/bash-completion/completions/monolith
  monolith completion zsh > ~/.zfunc/_monolith
  monolith completion fish > ~/.config/fish/completions/monolith.fish
  monolith completion powershell >> $PROFILE

Commands, flags and the values of flags that take one of a few are completed, of monolith-ts too.`;

export const EVAL_HELP = `
Examples:
  monolith eval runs/ratings                         the rows that the run held out, read again
  monolith eval runs/ratings --data new.csv --json   other rows, with labels

The best checkpoint is judged; --checkpoint runs/ratings/model.ckpt-939 judges another.`;

export const PREDICT_HELP = `
Examples:
  monolith predict runs/ratings --data new.csv --out scores.parquet
  monolith predict runs/ratings --data new.csv > scores.csv
  cat new.jsonl | monolith predict runs/ratings --data - --format jsonl --json

Every column stays; prediction and unknown_ids, the columns whose id training never saw, are put beside. No label is
needed.`;

export const RECOMMEND_HELP = `
Examples:
  monolith recommend runs/ratings --for userId=42 --top 3 --show title
  monolith recommend runs/ratings --for userId=42 --no-seen --json
  echo '{"userId":42}' | monolith recommend runs/ratings --json

Items are those of the data that the run was trained on, or of --data. Columns that --for does not say are those of the
newest row of whom it is for, else of the item.`;

export const EXPLAIN_HELP = `
Examples:
  monolith explain runs/ratings
  monolith explain runs/ratings --repeats 10 --json

Each column is shuffled among the held-out rows; how much AUC is lost is what the model owes to it.`;

export const COMPARE_HELP = `
Examples:
  monolith compare runs/ratings runs/ratings-2
  monolith compare runs/ratings runs/ratings-2 --data new.csv

Both are judged by the same rows where they held the same ones out; the interval is of the difference, row by row.`;

export const DATA_HELP = `
Examples:
  monolith data head ratings.csv
  monolith data stat ratings.csv                     what train would take each column for
  monolith data schema ratings.csv --label 'rating>=3.5' > schema.ts
  monolith data generate clicks --rows 1m --out clicks.parquet
  monolith data convert 'logs/*.csv.gz' --out logs.parquet
  cat part-*.csv | monolith data head -`;

export const TABLE_HELP = `
Examples:
  monolith table export runs/ratings --table movieId --out movies.parquet
  monolith table nearest runs/ratings --table movieId --id 318 --show title
  monolith table import runs/ratings --table movieId --data vectors.jsonl --out runs/changed`;

export const INIT_HELP = `
Examples:
  monolith init my-recs --data ratings.csv --label 'rating>=3.5' --with movies.csv:movieId
  monolith init my-clicks                 made-up clicks, to begin with

A folder that is not empty is left alone. Then: cd my-recs && npm install && npm run train`;
