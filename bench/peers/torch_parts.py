"""Parts of a training step on PyTorch, one JSON line each: torch_parts.py <folder> [--threads 2]"""
import argparse
import json
import os
import time

from ctr_ref import CATEGORIES, DENSE, VOCABULARY, Data, need

parser = argparse.ArgumentParser()
parser.add_argument('folder')
parser.add_argument('--threads', type=int, default=2)
args = parser.parse_args()
for variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ[variable] = str(args.threads)
np, torch = need('pytorch', 'parts', 'numpy', 'torch')
nn, F = torch.nn, torch.nn.functional
torch.set_num_threads(args.threads)
torch.manual_seed(1)

BATCH, BATCHES, DIM = 4096, 24, 16
IDS = BATCH * CATEGORIES


def measure(part, unit, amount, body, repeats, **fields):
    """`amount` per second, of the fastest run and of the middle one."""
    for _ in range(3):
        body()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        body()
        times.append(time.perf_counter() - begin)
    times.sort()
    line = dict(system='pytorch-' + torch.__version__.split('+')[0], part=part, threads=args.threads, unit=unit)
    line |= dict(best=round(amount / times[0], 2), median=round(amount / times[len(times) // 2], 2))
    print(json.dumps(line | fields), flush=True)


def products():
    shapes = [(1024, 1024, 1024), (4096, 429, 256), (512, 429, 256), (4096, 256, 128), (512, 128, 64), (256, 4096, 429)]
    for m, k, n in shapes:
        a, b = torch.randn(m, k), torch.randn(k, n)
        measure('sgemm', 'GFLOP/s', 2e-9 * m * k * n, lambda: a @ b, 40, shape=[m, k, n])


def layers():
    sizes = [CATEGORIES * DIM + DENSE, 256, 128, 64, 1]
    net = nn.Sequential(*[layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.ReLU())][:-1])
    for batch in (512, 4096):
        x, y = torch.randn(batch, sizes[0], requires_grad=True), torch.rand(batch)
        both = lambda: F.binary_cross_entropy_with_logits(net(x).squeeze(1), y).backward()
        measure('layers, forward and back', 'k examples/s', batch / 1e3, both, 25, batch=batch)
        measure('layers, forward', 'k examples/s', batch / 1e3, lambda: net(x.detach()), 25, batch=batch)


def tables():
    data = Data(args.folder, 'train')
    batches = min(BATCHES, data.count // BATCH)
    rows = [torch.from_numpy(data.batch(i * BATCH, BATCH)[2].reshape(-1)) for i in range(batches)]
    turn = [0]

    def following():
        turn[0] = (turn[0] + 1) % len(rows)
        return rows[turn[0]]

    bags = nn.EmbeddingBag(VOCABULARY, DIM, mode='sum', sparse=True)
    table, norms, gradient = bags.weight.detach(), torch.zeros(VOCABULARY, DIM), torch.randn(IDS, DIM)
    with torch.no_grad():
        for size in (1, CATEGORIES):
            offsets = torch.arange(0, IDS, size)
            measure(f'embedding_bag, bags of {size}', 'M ids/s', IDS / 1e6, lambda: bags(following(), offsets), 24)
        measure('embedding gather', 'M ids/s', IDS / 1e6, lambda: F.embedding(following(), table), 24)
    measure('unique with inverse', 'M ids/s', IDS / 1e6, lambda: torch.unique(following(), return_inverse=True), 24)
    optimizer = torch.optim.Adagrad([bags.weight], lr=0.05)

    def stock():
        bags.weight.grad = torch.sparse_coo_tensor(following()[None], gradient, (VOCABULARY, DIM))
        optimizer.step()

    def tuned():
        unique, inverse = torch.unique(following(), return_inverse=True)
        sums = torch.zeros(len(unique), DIM).index_add_(0, inverse, gradient)
        now = norms.index_select(0, unique).addcmul_(sums, sums)
        norms.index_copy_(0, unique, now)
        stepped = table.index_select(0, unique).addcdiv_(sums, now.sqrt_().add_(1e-8), value=-0.05)
        table.index_copy_(0, unique, stepped)

    measure('sparse Adagrad of torch.optim', 'M ids/s', IDS / 1e6, stock, 12)
    measure('sparse Adagrad by hand', 'M ids/s', IDS / 1e6, tuned, 12)


products()
layers()
tables()
