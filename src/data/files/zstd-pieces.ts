/** @file zstd where Node.js has none: by zstddec, which is WebAssembly. Node.js 22.15 and later have their own. */
import { closeSync, readSync } from 'node:fs';
import { openRegular } from '../../base/files/read-file.js';

const READ_BYTES = 1 << 18;

/** The bytes of a file that is compressed with zstd, of several frames too; it is read while the thread waits. */
export async function* zstdPieces(file: string): AsyncGenerator<Buffer> {
  const { ZSTDDecoder } = await import('zstddec/stream');
  const decoder = new ZSTDDecoder();
  await decoder.init();
  const pieces = filePieces(file);
  for (const piece of decoder.decodeStreaming(pieces)) {
    if (piece.length > 0) yield Buffer.from(piece);
  }
}

function* filePieces(file: string): Generator<Uint8Array> {
  const { fd } = openRegular(file);
  try {
    for (;;) {
      const piece = new Uint8Array(READ_BYTES);
      const count = readSync(fd, piece, 0, piece.length, null);
      if (count === 0) return;
      yield piece.subarray(0, count);
    }
  } finally {
    closeSync(fd);
  }
}

/** One block or page that is compressed, at once; no more than `bytes`, which must be more than none. */
export async function zstdBlocks(): Promise<(input: Uint8Array, bytes: number) => Uint8Array> {
  const { zstdDecompressSync } = (await import('node:zlib')) as {
    readonly zstdDecompressSync?: (input: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;
  };
  if (zstdDecompressSync !== undefined) return (input, bytes) => zstdDecompressSync(input, { maxOutputLength: bytes });
  const { ZSTDDecoder } = await import('zstddec');
  const decoder = new ZSTDDecoder();
  await decoder.init();
  return (input, bytes) => decoder.decode(input, bytes);
}
