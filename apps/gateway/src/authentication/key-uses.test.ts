import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type KeyUse, KeyUses } from "./key-uses.ts";

const day = 24 * 60 * 60_000;
const minute = 60_000;
let sent: string[][];
let failures: string[];
let away: boolean;
let uses: KeyUses;

beforeEach(() => {
  vi.useFakeTimers({ now: 20_000 * day });
  [sent, failures, away] = [[], [], false];
  uses = create();
});
afterEach(() => vi.useRealTimers());

const shown = ({ tenantId, keyId, day: on }: KeyUse) => `${tenantId}/${keyId}@${on}`;
function create(limits?: ConstructorParameters<typeof KeyUses>[1]): KeyUses {
  const send = async (noted: readonly KeyUse[]) => {
    if (away) throw new Error("away");
    sent.push(noted.map(shown));
  };
  return new KeyUses({ send, onFailed: (error) => failures.push((error as Error).message), now: Date.now }, limits);
}

test("the first use is told within a second, and then no more that day", async () => {
  for (let n = 0; n < 1_000; n += 1) uses.note(1, 11);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toEqual([["1/11@20000"]]);
  for (let hour = 0; hour < 23; hour += 1) {
    uses.note(1, 11);
    await vi.advanceTimersByTimeAsync(60 * minute);
  }
  expect(sent).toHaveLength(1);
});

test("further keys come at most once a minute, together", async () => {
  uses.note(1, 11);
  await vi.advanceTimersByTimeAsync(1_000);
  uses.note(1, 12);
  uses.note(2, 11);
  await vi.advanceTimersByTimeAsync(minute - 2_000);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sent).toEqual([["1/11@20000"], ["1/12@20000", "2/11@20000"]]);
});

test("each day is told anew", async () => {
  uses.note(1, 11);
  await vi.advanceTimersByTimeAsync(day);
  uses.note(1, 11);
  await vi.advanceTimersByTimeAsync(minute);
  expect(sent).toEqual([["1/11@20000"], ["1/11@20001"]]);
});

test("while management is away everything waits, the newest day of each key, with one warning", async () => {
  away = true;
  uses.note(1, 11);
  uses.note(1, 12);
  await vi.advanceTimersByTimeAsync(day);
  uses.note(1, 12);
  await vi.advanceTimersByTimeAsync(5 * minute);
  expect([sent, failures]).toEqual([[], ["away"]]);
  away = false;
  await vi.advanceTimersByTimeAsync(minute);
  expect(sent.map((batch) => batch.toSorted())).toEqual([["1/11@20000", "1/12@20001"]]);
  away = true;
  uses.note(1, 13);
  await vi.advanceTimersByTimeAsync(minute);
  expect(failures).toHaveLength(2);
});

test("a stop tells what waits, and what was on its way and failed", async () => {
  uses.note(1, 11);
  await uses.stop();
  expect(sent).toEqual([["1/11@20000"]]);
  await vi.advanceTimersByTimeAsync(day);
  expect(sent).toHaveLength(1);
  const other = create();
  away = true;
  other.note(1, 12);
  await vi.advanceTimersByTimeAsync(1_000);
  away = false;
  await other.stop();
  expect(sent).toEqual([["1/11@20000"], ["1/12@20001"]]);
});

test("a stop does not wait for a management that is not there", async () => {
  away = true;
  uses.note(1, 11);
  await uses.stop();
  expect(failures).toEqual(["away"]);
});

test("very many go in several batches", async () => {
  const small = create({ soonMs: 500, everyMs: minute, batch: 2 });
  for (let keyId = 1; keyId <= 5; keyId += 1) small.note(1, keyId);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent.map((batch) => batch.length)).toEqual([2, 2, 1]);
});
