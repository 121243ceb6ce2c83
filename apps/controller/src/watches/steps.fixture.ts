import type { ResolvedPolicy } from "@harrier/contracts";
import fc from "fast-check";

// The steps that are taken with a watched action, and the policies that it may have, at random.

export type Step =
  | { kind: "report"; execution: "proceeding" | "download" | "downloaded"; result: "none" }
  | { kind: "report"; execution: "closed"; result: "success" | "failure" }
  | { kind: "look" | "poll" | "settle" }
  | { kind: "shows"; what: "new" | "old" | "else" }
  | { kind: "runs"; same: boolean }
  | { kind: "time"; seconds: number }
  | { kind: "person"; proven: boolean }
  /** Another action of the target is claimed. */
  | { kind: "another" };

/** Limits lie between multiples of a minute, and only whole minutes pass, so that the time that a test takes decides nothing. */
const limitSeconds = 90;
/** With the tenth that it may be earlier or later, this lies between two and three minutes. */
export const retrySeconds = 150;

export const anyPolicy: fc.Arbitrary<ResolvedPolicy> = fc
  .record({
    alive: fc.boolean(),
    polls: fc.constantFrom(0, 1, 2),
    minutes: fc.constantFrom(0, 0, 1),
    onExpiry: fc.constantFrom("error" as const, "success" as const),
    watchHours: fc.constantFrom(0, 1),
    giveUp: fc.boolean(),
    fetches: fc.boolean(),
    retry: fc.constantFrom(undefined, undefined, { onSilent: false }, { onSilent: true }),
  })
  .map(({ alive, polls, minutes, onExpiry, watchHours, giveUp, fetches, retry }) => ({
    skip: "assigned" as const,
    proof: {
      require: alive ? ("alive" as const) : ("version" as const),
      stable: { polls, minutes },
      graceSeconds: limitSeconds,
      withinSeconds: 570,
      onExpiry,
      watchHours,
      expected: alive ? [] : [{ key: "sw_version", value: "1.3", match: "exact" as const }],
    },
    ...(retry && {
      retry: {
        ...{ max: 1, delaySeconds: retrySeconds, backoff: 1, maxDelaySeconds: retrySeconds },
        ...{ withoutCode: true, waitingCounts: "running" as const, ...retry },
      },
    }),
    limits: {
      ...(fetches ? { notFetchedSeconds: limitSeconds } : {}),
      downloadingSeconds: limitSeconds,
      installingSeconds: limitSeconds,
      count: "error" as const,
      ...(giveUp ? { giveUpSeconds: 330 } : {}),
    },
  }));

const oneOf = <T extends Step>(...steps: T[]) => fc.constantFrom(...steps);
/** Generates random steps; the most important ones come more often. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("proceeding" as const, "download" as const, "downloaded" as const)
      .map((execution): Step => ({ kind: "report", execution, result: "none" })),
  },
  { weight: 4, arbitrary: oneOf<Step>({ kind: "report", execution: "closed", result: "success" }) },
  { weight: 1, arbitrary: oneOf<Step>({ kind: "report", execution: "closed", result: "failure" }) },
  {
    weight: 8,
    arbitrary: fc
      .constantFrom("look" as const, "poll" as const, "poll" as const, "settle" as const, "settle" as const)
      .map((kind): Step => ({ kind })),
  },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom("new" as const, "new" as const, "old" as const, "else" as const)
      .map((what): Step => ({ kind: "shows", what })),
  },
  { weight: 2, arbitrary: fc.boolean().map((same): Step => ({ kind: "runs", same })) },
  { weight: 5, arbitrary: fc.constantFrom(60, 120, 600, 4_020).map((seconds): Step => ({ kind: "time", seconds })) },
  { weight: 1, arbitrary: fc.boolean().map((proven): Step => ({ kind: "person", proven })) },
);
