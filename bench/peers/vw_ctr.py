"""ctr-ref on Vowpal Wabbit; one JSON line. vw_ctr.py <folder> --mode lr|ffm|nn64|quad|fmfa [--vw path] [--cache]

lr     logistic regression with the adaptive, normalized, invariant updates that are the default
ffm    --lrq of dimension 16 on the five pairs of the FFM model
nn64   --nn 64: a hidden layer of 64 tanh units, the nearest there is to the layers of DeepFM
quad   -q ::, all crosses of two, hashed
fmfa   --lrqfa over all 26 slots, dimension 4

The time includes parsing of the text, which has its own thread; with --cache it is the pass over a binary cache alone.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from ctr_ref import report, skip

MODES = dict(
    lr=[],
    nn64=['--nn', '64'],
    quad=['-q', '::'],
    fmfa=['--lrqfa', 'abcdefghijklmnopqrstuvwxyz4'],
    ffm=[word for pair in ('oj', 'oz', 'dg', 'xj', 'xg') for word in ('--lrq', pair + '16')],
)

parser = argparse.ArgumentParser()
parser.add_argument('folder')
parser.add_argument('--mode', choices=sorted(MODES), default='lr')
parser.add_argument('--vw', default='vw')
parser.add_argument('--cache', action='store_true')
parser.add_argument('--bits', type=int, default=24)
args = parser.parse_args()

if not shutil.which(args.vw):
    skip('vw', args.mode, f'no executable {args.vw}')
if not os.path.exists(f'{args.folder}/train.vw'):
    skip('vw', args.mode, 'no train.vw: generate ctr-ref with --text')


def seconds(command):
    begin = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit('vw failed')
    return time.perf_counter() - begin, usage


version = subprocess.run([args.vw, '--version'], capture_output=True, text=True).stdout.split()[0]
base = [args.vw, '--quiet', '--loss_function', 'logistic', '-b', str(args.bits), '--random_seed', '1']
with open(f'{args.folder}/meta.json') as meta:
    examples = json.load(meta)['train']['examples']
with tempfile.TemporaryDirectory() as folder:
    # Allocating and writing 2^bits weights is not training: measured on an empty file and taken off.
    open(f'{folder}/empty', 'w').close()
    start_up, _ = seconds(base + MODES[args.mode] + ['-d', f'{folder}/empty', '-f', f'{folder}/nothing'])
    source = ['-d', f'{args.folder}/train.vw']
    if args.cache:
        source += ['--cache_file', f'{folder}/cache']
        subprocess.run(base + source + ['-k'], check=True)
    wall, usage = seconds(base + MODES[args.mode] + source + ['-f', f'{folder}/model'])
    predict = ['-t', '-i', f'{folder}/model', '-d', f'{args.folder}/test.vw', '-p', f'{folder}/scores']
    subprocess.run([args.vw, '--quiet'] + predict, check=True)
    with open(f'{folder}/scores') as lines:
        scores = [float(line.split()[0]) for line in lines]
with open(f'{args.folder}/test.vw') as lines:
    labels = [1 if line[0] == '1' else 0 for line in lines]
report(
    f'vw-{version}' + ('-cache' if args.cache else '-text'),
    args.mode,
    labels,
    scores,
    usage.ru_maxrss,
    batch=1,
    threads=2,
    examples=examples,
    examples_per_s=round(examples / (wall - start_up)),
    cpu_s=round(usage.ru_utime + usage.ru_stime, 2),
    startup_s=round(start_up, 2),
)
