"""ctr-ref on PyTorch; one JSON line.

  torch_ctr.py <folder> --model lr|ffm|deepfm --batch 512 --threads 2
               [--ids static|dict] [--impl stock|tuned] [--procs 2]

--ids static   row numbers given up front; the table is allocated for all 5,000,000 rows
--ids dict     raw ids, rows handed out on first sight (numpy.unique and a Python dict), a growing table
--impl stock   nn.EmbeddingBag(sparse=True) and torch.optim.Adagrad: what most people write
--impl tuned   one table, unique rows, sparse Adagrad by hand: what an expert writes
--procs 2      Hogwild: so many processes of one thread on shared tables (static ids, tuned); the fastest way to use two
               cores from PyTorch

It is fastest with MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=2147483648, which saves page faults, with
the OpenMP build of OpenBLAS: with its own threads, OpenBLAS and PyTorch get into each other's way.
"""
import argparse
import os
import time

from ctr_ref import CATEGORIES, DENSE, FFM_PAIRS, FFM_SLOTS, VOCABULARY, Data, need, report

parser = argparse.ArgumentParser()
parser.add_argument('folder')
parser.add_argument('--model', choices=['lr', 'ffm', 'deepfm'], default='deepfm')
parser.add_argument('--batch', type=int, default=512)
parser.add_argument('--threads', type=int, default=2)
parser.add_argument('--ids', choices=['static', 'dict'], default='static')
parser.add_argument('--impl', choices=['stock', 'tuned'], default='tuned')
parser.add_argument('--procs', type=int, default=1)
parser.add_argument('--max-seconds', type=float, default=45)
args = parser.parse_args()

for variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ[variable] = str(args.threads)
np, torch = need('pytorch', args.model, 'numpy', 'torch')
nn, F = torch.nn, torch.nn.functional
torch.set_num_threads(args.threads)
torch.manual_seed(1)

DIM = 16
EPSILON = 1e-8
RATE = 0.02 if args.model == 'deepfm' else 0.05
RATE_DENSE = 0.01
# A row is a first-order weight and the vectors of the model.
WIDTH = {'lr': 1, 'deepfm': 1 + DIM, 'ffm': 1 + 2 * DIM}[args.model]
SLOTS = FFM_SLOTS if args.model == 'ffm' else list(range(CATEGORIES))


def initial(rows, columns):
    return torch.empty(rows, columns).normal_(0, 0.05 if args.model == 'ffm' else 0.01)


class Remap:
    """Rows for ids that appear as training goes. Row 0 stands for ids not seen in training and stays zero."""

    def __init__(self):
        self.rows = {}

    def __call__(self, keys, grow):
        unique, inverse = np.unique(keys.reshape(-1), return_inverse=True)
        rows = self.rows
        if grow:
            found = (rows.setdefault(id, len(rows) + 1) for id in unique.tolist())
        else:
            found = (rows.get(id, 0) for id in unique.tolist())
        return np.fromiter(found, np.int64, len(unique)), inverse.reshape(keys.shape)


class Head(nn.Module):
    """The dense part: a bias, thirteen weights and, for DeepFM, the layers on top."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(DENSE, 1)
        self.layers = None
        if args.model == 'deepfm':
            sizes = [CATEGORIES * DIM + DENSE, 256, 128, 64, 1]
            layers = [layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.ReLU())]
            self.layers = nn.Sequential(*layers[:-1])

    def forward(self, weights, vectors, dense):
        logit = self.linear(dense).squeeze(1) + weights.sum(1)
        if args.model == 'deepfm':
            total = vectors.sum(1)
            pairs = 0.5 * (total * total - (vectors * vectors).sum(1)).sum(1)
            logit = logit + pairs + self.layers(torch.cat([vectors.flatten(1), dense], 1)).squeeze(1)
        elif args.model == 'ffm':
            used = [0] * len(FFM_SLOTS)
            for a, b in FFM_PAIRS:
                i, j = used[a] * DIM, used[b] * DIM
                used[a] += 1
                used[b] += 1
                logit = logit + (vectors[:, a, i:i + DIM] * vectors[:, b, j:j + DIM]).sum(1)
        return logit


class Stock:
    """Two sparse tables, autograd, torch.optim.Adagrad, whose sparse branch sorts."""

    def __init__(self):
        rows = VOCABULARY + 1
        self.weights = nn.EmbeddingBag(rows, 1, mode='sum', sparse=True)
        nn.init.zeros_(self.weights.weight)
        self.vectors = None
        tables = [self.weights.weight]
        if WIDTH > 1:
            given = initial(rows, WIDTH - 1)
            self.vectors = nn.EmbeddingBag(rows, WIDTH - 1, mode='sum', sparse=True, _weight=given)
            tables.append(self.vectors.weight)
        self.head = Head()
        self.remap = Remap()
        groups = [dict(params=tables), dict(params=self.head.parameters(), lr=RATE_DENSE)]
        self.optimizer = torch.optim.Adagrad(groups, lr=RATE, eps=EPSILON)

    def rows(self, keys, grow):
        keys = keys[:, SLOTS]
        if args.ids == 'dict':
            rows, inverse = self.remap(keys, grow)
            keys = rows[inverse]
        return torch.from_numpy(np.ascontiguousarray(keys))

    def logits(self, keys, dense, grow=False):
        rows = self.rows(keys, grow)
        vectors = None
        if self.vectors is not None:
            vectors = self.vectors(rows.reshape(-1, 1)).view(rows.shape[0], rows.shape[1], -1)
        return self.head(self.weights(rows), vectors, dense)

    def step(self, labels, dense, keys):
        loss = F.binary_cross_entropy_with_logits(self.logits(keys, dense, True), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()


class Tuned:
    """One table; unique rows are gathered once, have a dense gradient, and are stepped in place."""

    def __init__(self):
        rows = VOCABULARY + 1 if args.ids == 'static' else 1 << 16
        self.table = initial(rows, WIDTH)
        self.table[:, 0] = 0
        if args.ids == 'dict':
            self.table[0] = 0
        self.norms = torch.zeros(rows, WIDTH)
        self.head = Head()
        self.remap = Remap()
        self.optimizer = torch.optim.Adagrad(self.head.parameters(), lr=RATE_DENSE, eps=EPSILON)

    def rows(self, keys, grow):
        keys = np.ascontiguousarray(keys[:, SLOTS])
        if args.ids == 'static':
            return torch.unique(torch.from_numpy(keys), return_inverse=True)
        rows, inverse = self.remap(keys, grow)
        while len(self.remap.rows) + 1 > len(self.table):
            more = initial(len(self.table), WIDTH)
            more[:, 0] = 0
            self.norms = torch.cat([self.norms, torch.zeros(len(self.table), WIDTH)])
            self.table = torch.cat([self.table, more])
        return torch.from_numpy(rows), torch.from_numpy(inverse)

    def combine(self, unique, inverse, dense):
        rows = F.embedding(inverse, unique)
        return self.head(rows[..., 0], rows[..., 1:] if WIDTH > 1 else None, dense)

    def logits(self, keys, dense):
        unique, inverse = self.rows(keys, False)
        return self.combine(self.table.index_select(0, unique), inverse, dense)

    def step(self, labels, dense, keys):
        unique, inverse = self.rows(keys, True)
        rows = self.table.index_select(0, unique).requires_grad_()
        loss = F.binary_cross_entropy_with_logits(self.combine(rows, inverse, dense), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            norms = self.norms.index_select(0, unique).addcmul_(rows.grad, rows.grad)
            self.norms.index_copy_(0, unique, norms)
            stepped = rows.detach().addcdiv_(rows.grad, norms.sqrt_().add_(EPSILON), value=-RATE)
            self.table.index_copy_(0, unique, stepped)


def tensors(data, first, count):
    labels, dense, keys = data.batch(first, count)
    return torch.from_numpy(labels), torch.from_numpy(dense), keys


model = Stock() if args.impl == 'stock' else Tuned()
train, test = Data(args.folder, 'train', args.ids), Data(args.folder, 'test', args.ids)
warm_up = max(2, 8192 // args.batch)


def run(first, stride):
    """Every `stride`-th batch from `first` on; seconds of each step."""
    times, end = [], time.perf_counter() + args.max_seconds
    for at in range(first * args.batch, train.count - args.batch + 1, stride * args.batch):
        begin = time.perf_counter()
        model.step(*tensors(train, at, args.batch))
        times.append(time.perf_counter() - begin)
        if time.perf_counter() > end:
            break
    return times


def run_together():
    """The same in processes that share the tables."""
    import multiprocessing

    context = multiprocessing.get_context('fork')
    for shared in (model.table, model.norms):
        shared.share_memory_()
    model.head.share_memory()
    model.optimizer.share_memory()
    gate, results = context.Barrier(args.procs), context.Queue()

    def child(index):
        gate.wait()
        results.put(run(index, args.procs))

    children = [context.Process(target=child, args=(index,)) for index in range(args.procs)]
    for one in children:
        one.start()
    times = [results.get() for _ in children]
    for one in children:
        one.join()
    return times


times = [run(0, 1)] if args.procs == 1 else run_together()
counted = [steps[warm_up:] for steps in times]
steps_ms = 1e3 * np.concatenate(counted)
with torch.no_grad():
    scored = []
    for at in range(0, test.count, 4096):
        labels, dense, keys = tensors(test, at, min(4096, test.count - at))
        scored.append((labels.numpy(), model.logits(keys, dense).numpy()))
name = f'pytorch-{torch.__version__.split("+")[0]}-{args.impl}'
name += '' if args.ids == 'static' else '-dict'
name += '' if args.procs == 1 else f'-hogwild{args.procs}'
report(
    name,
    args.model,
    np.concatenate([labels for labels, _ in scored]),
    np.concatenate([scores for _, scores in scored]),
    batch=args.batch,
    threads=args.threads * args.procs,
    examples=args.batch * sum(map(len, times)),
    examples_per_s=round(args.batch * sum(map(len, counted)) / max(map(sum, counted))),
    step_ms_median=round(float(np.median(steps_ms)), 3),
    step_ms_p10=round(float(np.percentile(steps_ms, 10)), 3),
)
