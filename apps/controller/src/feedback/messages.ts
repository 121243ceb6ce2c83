import { serverMessagePrefix } from "../domain/codes.ts";
import { type Channel, type Execution, type Result, ruleOf } from "../domain/transitions.ts";

/** Longer texts are split, never rejected (contract device.md §8). */
const maxMessageLength = 512;

export interface ReportContent {
  channel: Channel;
  execution: Execution;
  result: Result;
  code: number | null;
  details: readonly string[];
}

/**
 * Builds the messages of a history entry (contract device.md §7.2, §7.3): the server's first message, the device's details, its code, the server's
 * last message; and where there is none of these, the server's default message.
 */
export function messagesOf(content: ReportContent): string[] {
  // The messages are the same for every type of action: a test checks `texts` of downloadonly rows.
  const { first, last, otherwise } = ruleOf(content, false).texts;
  const messages = [
    ...(first === undefined ? [] : [serverMessagePrefix + first]),
    ...content.details.flatMap(split),
    ...(content.code === null ? [] : [`Device reported status code: ${content.code}`]),
    ...(last === undefined ? [] : [serverMessagePrefix + last]),
  ];
  return messages.length === 0 && otherwise !== undefined ? [serverMessagePrefix + otherwise] : messages;
}

/** Splits a text into pieces of at most 512 UTF-16 units, as hawkBit counts them; no character is cut in two. */
export function split(text: string): string[] {
  // PostgreSQL cannot hold a NUL in a text.
  const storable = text.includes("\u0000") ? text.replaceAll("\u0000", "\ufffd") : text;
  const pieces: string[] = [];
  for (let from = 0; from < storable.length; ) {
    let to = Math.min(from + maxMessageLength, storable.length);
    if (to < storable.length && isHighSurrogate(storable.charCodeAt(to - 1))) to -= 1;
    pieces.push(storable.slice(from, to));
    from = to;
  }
  return pieces;
}

/**
 * Returns how many messages an entry may hold. The quota counts pieces, but SWUpdate sends up to 48 lines of its log at once whatever their length,
 * and drops the log if they are rejected. So of several lines each but the first may be two pieces, and longer ones may have as many more as there
 * are short lines beside them; texts that are all long count as the pieces they are split into.
 */
export function maxMessages(details: readonly string[], quota: number): number {
  if (quota <= 0) return quota;
  let [short, halves, more] = [0, 0, 0];
  for (const { length } of details) {
    if (length <= maxMessageLength) short += 1;
    else if (length <= 2 * maxMessageLength) halves += 1;
    else more += Math.ceil(length / maxMessageLength) - 1;
  }
  const cuts = halves + Math.min(more, short);
  return Math.min(quota + Math.min(cuts, Math.max(Math.min(details.length, quota) - 1, 0)), 2_147_483_647);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
