/** @file Numbers as people read them: rates, times, losses, sizes, counts, shares. */

/** 12.3, 1234, 79.0k, 1.2M: never more than six characters for a rate that can occur. */
export function rateText(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value < 99.95) return value.toFixed(1);
  if (value < 9999.5) return value.toFixed(0);
  if (value < 999_950) return `${(value / 1e3).toFixed(1)}k`;
  return `${(value / 1e6).toFixed(1)}M`;
}

/** 12s, 3m05s, 2h07m, 4d03h. */
export function durationText(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return '-';
  const total = Math.max(0, Math.ceil(seconds));
  const two = (value: number) => String(value).padStart(2, '0');
  if (total < 60) return `${total}s`;
  if (total < 3600) return `${Math.floor(total / 60)}m${two(total % 60)}s`;
  if (total < 86_400) return `${Math.floor(total / 3600)}h${two(Math.floor((total % 3600) / 60))}m`;
  return `${Math.floor(total / 86_400)}d${two(Math.floor((total % 86_400) / 3600))}h`;
}

/** Four places, or powers of ten where they would hide the number. */
export function lossText(loss: number): string {
  if (!Number.isFinite(loss)) return String(loss);
  const size = Math.abs(loss);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? loss.toExponential(3) : loss.toFixed(4);
}

/** 512 B, 1.5 KiB, 3.0 GiB. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** 1 step, 2 steps. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** 12,345. */
export const wholeText = (value: number): string => value.toLocaleString('en-US');

/** A share of 1 as 12.3 %. */
export const shareText = (share: number): string => `${(share * 100).toFixed(1)} %`;
