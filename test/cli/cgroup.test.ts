import t from 'tap';
import { cgroupLimits } from '../../src/cli/cgroup.js';

const reader = (files: Record<string, string>) => (path: string) => files[path] ?? null;

t.test('no control groups mean no limits', async (t) => {
  t.same(cgroupLimits(reader({})), { cores: null, memoryBytes: null });
});

t.test('version 2: the tightest limit of our group and those above counts', async (t) => {
  const files = {
    '/proc/self/cgroup': '0::/pod/box\n',
    '/sys/fs/cgroup/pod/cpu.max': '150000 100000\n',
    '/sys/fs/cgroup/pod/box/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/pod/memory.max': 'max\n',
    '/sys/fs/cgroup/pod/box/memory.max': '1073741824\n',
  };
  t.same(cgroupLimits(reader(files)), { cores: 1.5, memoryBytes: 2 ** 30 });
});

t.test('version 2 inside a container: the limit is at the root', async (t) => {
  const files = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '400000 100000' };
  t.same(cgroupLimits(reader(files)), { cores: 4, memoryBytes: null });
});

t.test('version 1: quota and period, huge numbers mean no limit', async (t) => {
  const files: Record<string, string> = {
    '/proc/self/cgroup': '5:memory:/a\n4:cpu,cpuacct:/a\n',
    '/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us': '50000\n',
    '/sys/fs/cgroup/cpu/a/cpu.cfs_period_us': '100000\n',
    '/sys/fs/cgroup/memory/a/memory.limit_in_bytes': '9223372036854771712\n',
  };
  t.same(cgroupLimits(reader(files)), { cores: 0.5, memoryBytes: null });
  files['/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us'] = '-1\n';
  t.same(cgroupLimits(reader(files)), { cores: null, memoryBytes: null });
});
