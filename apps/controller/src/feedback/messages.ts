import { serverMessagePrefix } from "../domain/codes.ts";
import { type Channel, type Execution, type Result, ruleOf } from "../domain/transitions.ts";

/** Longer texts are split, never refused (contract device.md §8). */
const longestMessage = 512;

export interface Said {
  channel: Channel;
  execution: Execution;
  result: Result;
  code: number | null;
  details: readonly string[];
}

/**
 * The messages of a history entry (contract device.md §7.2, §7.3): what the server always says first, the device's details, its code,
 * what the server always says last; and where nobody said anything, what the server says otherwise.
 */
export function messagesOf(said: Said): string[] {
  // the words are the same for every type of action: `texts` of download-only rows are checked by test
  const { first, last, otherwise } = ruleOf(said, false).texts;
  const messages = [
    ...(first === undefined ? [] : [serverMessagePrefix + first]),
    ...said.details.flatMap(split),
    ...(said.code === null ? [] : [`Device reported status code: ${said.code}`]),
    ...(last === undefined ? [] : [serverMessagePrefix + last]),
  ];
  return messages.length === 0 && otherwise !== undefined ? [serverMessagePrefix + otherwise] : messages;
}

/** Pieces of at most 512 UTF-16 units, as hawkBit counts them; no character is cut in two. */
export function split(text: string): string[] {
  // PostgreSQL holds no NUL in a text
  const storable = text.includes("\u0000") ? text.replaceAll("\u0000", "\ufffd") : text;
  const pieces: string[] = [];
  for (let from = 0; from < storable.length; ) {
    let to = Math.min(from + longestMessage, storable.length);
    if (to < storable.length && isHighSurrogate(storable.charCodeAt(to - 1))) to -= 1;
    pieces.push(storable.slice(from, to));
    from = to;
  }
  return pieces;
}

/**
 * How many messages an entry may hold: the quota counts pieces, but SWUpdate sends up to 48 lines of its log at once whatever their length,
 * and gives the log up where they are refused. So of several lines each but the first may be two pieces, and longer ones may have as many
 * more as there are short lines beside them; texts that are all long count as what they are split into.
 */
export function mostMessages(details: readonly string[], quota: number): number {
  if (quota <= 0) return quota;
  let [short, halves, more] = [0, 0, 0];
  for (const { length } of details) {
    if (length <= longestMessage) short += 1;
    else if (length <= 2 * longestMessage) halves += 1;
    else more += Math.ceil(length / longestMessage) - 1;
  }
  const cuts = halves + Math.min(more, short);
  return Math.min(quota + Math.min(cuts, Math.max(Math.min(details.length, quota) - 1, 0)), 2_147_483_647);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
