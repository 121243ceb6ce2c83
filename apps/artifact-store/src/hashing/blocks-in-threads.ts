/**
 * Bytes go to the threads in blocks of so many: a block of half the size costs as many messages again, and one of twice the size is out of the
 * processor's cache before it is hashed. A file of no more than one block is hashed at once.
 */
export const blockBytes = 512 * 1_024;
/** So many blocks of a file are being filled or hashed at most. With two, whoever fills and the two threads would wait for each other at each block. */
export const blocksOfFile = 8;
/** While so many blocks of all files wait for the threads, a file has but two. */
const blocksOfAll = 48;
/** The memory of blocks is used again; that of only so many is kept. */
const keptBlocks = 16;

export interface Block {
  readonly memory: SharedArrayBuffer;
  /** A view of it, whose `fill` copies at once; `set` and `copy` move shared memory one word at a time. */
  readonly bytes: Buffer;
}

const unused: Block[] = [];
let waiting = 0;

/** Whether a file may have one more block in the threads. `sparing`: it never has more than two blocks. */
export function hasRoom(own: number, sparing: boolean): boolean {
  return own < 1 || (!sparing && own < blocksOfFile - 1 && waiting < blocksOfAll);
}

/** Takes a block; the memory of one that was hashed is used again. */
export function takeBlock(): Block {
  const block = unused.pop();
  if (block !== undefined) return block;
  const memory = new SharedArrayBuffer(blockBytes);
  return { memory, bytes: Buffer.from(memory) };
}

/** Gives a block back that no thread reads any more. */
export function giveBlock(block: Block): void {
  if (unused.length < keptBlocks) unused.push(block);
}

/** Counts blocks that wait for the threads. */
export function countWaiting(more: 1 | -1): void {
  waiting += more;
}
