"""ctr-ref on other packaged learners; one JSON line. other_ctr.py <folder> --system sklearn-sgd|liblinear|xgboost

sklearn-sgd   one pass of SGDClassifier
liblinear     logistic regression to convergence, many passes
xgboost       60 trees of depth 6 over the numbers and the mean label of every id, taken from the other half of the data
"""
import argparse
import os
import shutil
import subprocess
import tempfile
import time

from ctr_ref import CATEGORIES, DENSE, VOCABULARY, Data, need, report, skip

parser = argparse.ArgumentParser()
parser.add_argument('folder')
parser.add_argument('--system', choices=['sklearn-sgd', 'liblinear', 'xgboost'], default='sklearn-sgd')
parser.add_argument('--threads', type=int, default=2)
args = parser.parse_args()
os.environ['OMP_NUM_THREADS'] = str(args.threads)


def sklearn_sgd(np, train, test):
    sparse, linear_model = need(args.system, 'lr', 'scipy.sparse', 'sklearn.linear_model')
    columns = CATEGORIES + DENSE

    def matrix(dense, keys):
        count = len(keys)
        numbers = np.broadcast_to(np.arange(VOCABULARY, VOCABULARY + DENSE), (count, DENSE))
        indices = np.concatenate([keys, numbers], 1).astype(np.int32).ravel()
        values = np.concatenate([np.ones((count, CATEGORIES), np.float32), dense], 1).ravel()
        starts = np.arange(0, columns * count + 1, columns, dtype=np.int32)
        return sparse.csr_matrix((values, indices, starts), (count, VOCABULARY + DENSE))

    labels, dense, keys = train
    batch = 32768
    model = linear_model.SGDClassifier(
        loss='log_loss', alpha=1e-7, learning_rate='constant', eta0=0.02, random_state=1
    )
    begin = time.perf_counter()
    for at in range(0, len(labels), batch):
        part = slice(at, at + batch)
        model.partial_fit(matrix(dense[part], keys[part]), labels[part], classes=[0.0, 1.0])
    seconds = time.perf_counter() - begin
    scores = model.decision_function(matrix(test[1], test[2]))
    return dict(model='lr', batch=batch, threads=1, seconds=seconds, scores=scores)


def liblinear(np, train, test):
    if not shutil.which('liblinear-train'):
        skip(args.system, 'lr', 'no executable liblinear-train')

    def write(file, labels, dense, keys):
        with open(file, 'w') as lines:
            for label, numbers, ids in zip(labels, dense, np.sort(keys, 1) + DENSE + 1):
                parts = ['+1' if label else '-1']
                parts += [f'{j + 1}:{value:.3f}' for j, value in enumerate(numbers)] + [f'{id}:1' for id in ids]
                lines.write(' '.join(parts) + '\n')

    with tempfile.TemporaryDirectory() as folder:
        write(f'{folder}/train', *train)
        write(f'{folder}/test', *test)
        command = ['liblinear-train', '-s', '0', '-c', '0.1', '-q', f'{folder}/train', f'{folder}/model']
        begin = time.perf_counter()
        process = subprocess.Popen(command)
        _, _, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        predict = ['-b', '1', '-q', f'{folder}/test', f'{folder}/model', f'{folder}/scores']
        subprocess.run(['liblinear-predict'] + predict, check=True)
        with open(f'{folder}/scores') as lines:
            column = next(lines).split().index('1')
            scores = np.array([float(line.split()[column]) for line in lines])
    return dict(model='lr', batch='full', threads=1, seconds=seconds, scores=scores, max_rss_kb=usage.ru_maxrss)


def xgboost(np, train, test):
    (xgb,) = need(args.system, 'gbdt-60x6', 'xgboost')
    labels, dense, keys = train
    begin = time.perf_counter()
    prior = labels.mean()

    def encode(target, source):
        """Mean label of each id of `target` among the examples `source`, drawn to the mean of all."""
        means = np.empty(target.shape, np.float32)
        for slot in range(CATEGORIES):
            sums = np.bincount(keys[source][:, slot], labels[source], VOCABULARY)
            counts = np.bincount(keys[source][:, slot], minlength=VOCABULARY)
            means[:, slot] = ((sums + 10 * prior) / (counts + 10))[target[:, slot]]
        return means

    even = np.arange(len(labels)) % 2 == 0
    means = np.empty(keys.shape, np.float32)
    means[~even] = encode(keys[~even], even)
    means[even] = encode(keys[even], ~even)
    options = dict(objective='binary:logistic', tree_method='hist', max_depth=6, eta=0.2, nthread=args.threads)
    model = xgb.train(options, xgb.DMatrix(np.hstack([dense, means]), labels), 60)
    seconds = time.perf_counter() - begin
    test_means = encode(test[2], np.ones(len(labels), bool))
    scores = model.predict(xgb.DMatrix(np.hstack([test[1], test_means])))
    return dict(model='gbdt-60x6', batch='full', threads=args.threads, seconds=seconds, scores=scores)


(numpy,) = need(args.system, 'lr', 'numpy')
train, test = Data(args.folder, 'train').all(), Data(args.folder, 'test').all()
run = {'sklearn-sgd': sklearn_sgd, 'liblinear': liblinear, 'xgboost': xgboost}[args.system]
found = run(numpy, train, test)
report(
    args.system,
    found['model'],
    test[0],
    found['scores'],
    found.get('max_rss_kb'),
    batch=found['batch'],
    threads=found['threads'],
    examples=len(train[0]),
    examples_per_s=round(len(train[0]) / found['seconds']),
)
