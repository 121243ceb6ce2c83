import { HarrierError, type Violation, violationsInfo } from "@harrier/errors";
import { z } from "zod";
import { arrayUpTo } from "./arrays.ts";
import type { ExpectedAttribute, ResolvedPolicy } from "./safety-policy.ts";
import { flag, lookedUpText, wholeBetween } from "./values.ts";

/** This name means that nothing is watched, whatever the tenant's default is; no policy can have it. */
export const noPolicy = "none";

const seconds = wholeBetween(60, 2_592_000);

/** A code of a device, or the codes from one to another: `-7`, `"500-599"`. */
const codePattern = /^(-?\d{1,10})(?:-(-?\d{1,10}))?$/;
const isInt32 = (code: number) => Number.isInteger(code) && code >= -2_147_483_648 && code <= 2_147_483_647;

/** Answers the codes that an entry names; undefined if it cannot be read. */
function codesOf(entry: number | string): { from: number; to: number } | undefined {
  const [, first, last = first] = codePattern.exec(String(entry)) ?? [];
  if (first === undefined) return undefined;
  const range = { from: Number(first), to: Number(last) };
  return isInt32(range.from) && isInt32(range.to) && range.from <= range.to ? range : undefined;
}

const codes = arrayUpTo(
  50,
  z.union([z.number(), z.string()]).refine((entry) => codesOf(entry) !== undefined, "must be a code or a range of codes such as 500-599"),
);

const proof = z.object({
  require: z.enum(["version", "alive"]).optional(),
  fallback: z.enum(["alive", "refuse"]).optional(),
  stable: z.object({ polls: wholeBetween(0, 100).optional(), minutes: wholeBetween(0, 10_080).optional() }).optional(),
  graceSeconds: wholeBetween(0, 86_400).optional(),
  withinSeconds: seconds.optional(),
  onExpiry: z.enum(["error", "success"]).optional(),
  watchHours: wholeBetween(0, 720).optional(),
});

const limits = z.object({
  notFetchedSeconds: seconds.optional(),
  downloadingSeconds: seconds.optional(),
  installingSeconds: seconds.optional(),
  count: z.enum(["error", "none"]).optional(),
  giveUpSeconds: seconds.optional(),
});

const retry = z.object({
  max: wholeBetween(1, 10).optional(),
  delaySeconds: wholeBetween(0, 2_592_000).optional(),
  backoff: z.number().min(1).max(10).optional(),
  maxDelaySeconds: wholeBetween(0, 2_592_000).optional(),
  codes: codes.optional(),
  notCodes: codes.optional(),
  withoutCode: flag().optional(),
  onSilent: flag().optional(),
  waitingCounts: z.enum(["running", "error"]).optional(),
});

const parts = {
  proof: proof.meta({ id: "SafetyProof" }).optional(),
  limits: limits.meta({ id: "SafetyLimits" }).optional(),
  retry: retry.meta({ id: "SafetyRetry" }).optional(),
  skip: z.enum(["assigned", "installed"]).optional(),
};

/** What a named policy holds: how a success is proven, how long a device may take, and what is tried again (contract beyond.md §1.1). */
export const safetyParts = z.object(parts).meta({ id: "SafetyParts" });

/** The same where it is used: by the name of a policy, by its parts, or by a name with parts that take the place of the policy's. */
export const safetyBody = z.object({ policy: lookedUpText.max(64).optional(), ...parts }).meta({ id: "SafetyRequest" });
export type Safety = z.output<typeof safetyBody>;

/** A policy with every default filled in, as a rollout keeps and shows it. */
export const frozenSafety = z
  .object({
    policy: z.string().optional(),
    proof: z
      .object({
        require: z.enum(["version", "alive"]),
        fallback: z.enum(["alive", "refuse"]),
        stable: z.object({ polls: z.int(), minutes: z.int() }),
        graceSeconds: z.int(),
        withinSeconds: z.int(),
        onExpiry: z.enum(["error", "success"]),
        watchHours: z.int(),
      })
      .meta({ id: "FrozenProof" })
      .optional(),
    limits: z
      .object({
        notFetchedSeconds: z.int().optional(),
        downloadingSeconds: z.int().optional(),
        installingSeconds: z.int().optional(),
        count: z.enum(["error", "none"]),
        giveUpSeconds: z.int().optional(),
      })
      .meta({ id: "FrozenLimits" })
      .optional(),
    retry: z
      .object({
        max: z.int(),
        delaySeconds: z.int(),
        backoff: z.number(),
        maxDelaySeconds: z.int(),
        codes: z.array(z.union([z.int(), z.string()])).optional(),
        notCodes: z.array(z.union([z.int(), z.string()])).optional(),
        withoutCode: z.boolean(),
        onSilent: z.boolean(),
        waitingCounts: z.enum(["running", "error"]),
      })
      .meta({ id: "FrozenRetry" })
      .optional(),
    skip: z.enum(["assigned", "installed"]),
  })
  .meta({ id: "Safety" });
export type FrozenSafety = z.output<typeof frozenSafety>;

/** Puts the members that were sent in the place of those of a named policy, member by member. */
export function mergeSafety(named: Safety, given: Safety): Safety {
  const stable = { ...named.proof?.stable, ...given.proof?.stable };
  return {
    ...named,
    ...given,
    ...((named.proof || given.proof) && { proof: { ...named.proof, ...given.proof, stable } }),
    ...((named.limits || given.limits) && { limits: { ...named.limits, ...given.limits } }),
    ...((named.retry || given.retry) && { retry: { ...named.retry, ...given.retry } }),
  };
}

type Frozen<Part extends "proof" | "limits" | "retry"> = NonNullable<FrozenSafety[Part]>;

/**
 * Fills in the defaults and checks the members against each other. Answers null if nothing is watched.
 * @param at - the path of the policy in the request, such as `safety`
 * @throws constraintViolation that names each member that contradicts another, or that is missing
 */
export function freezeSafety(
  { policy, proof: sent, limits: bounds, retry: again, skip = "assigned" }: Safety,
  at: string,
): FrozenSafety | null {
  const frozen: FrozenSafety = {
    ...(policy !== undefined && policy.toLowerCase() !== noPolicy && { policy }),
    ...(sent && { proof: frozenProof(sent) }),
    ...(bounds && { limits: { ...bounds, count: bounds.count ?? "error" } as Frozen<"limits"> }),
    ...(again && { retry: frozenRetry(again) }),
    skip,
  };
  const found = [...contradictionsOf(frozen), ...(again && again.max === undefined ? [{ path: "retry.max", problem: "is missing" }] : [])];
  if (found.length > 0) throw refused(found.map(({ path, problem }) => ({ path: `${at}.${path}`, problem })));
  return frozen.proof || frozen.limits || frozen.retry || skip === "installed" ? frozen : null;
}

function frozenProof(sent: NonNullable<Safety["proof"]>): Frozen<"proof"> {
  const { polls = 2, minutes = 0 } = sent.stable ?? {};
  return {
    require: sent.require ?? "version",
    fallback: sent.fallback ?? "alive",
    stable: { polls, minutes },
    graceSeconds: sent.graceSeconds ?? 900,
    withinSeconds: sent.withinSeconds ?? 3_600,
    onExpiry: sent.onExpiry ?? "error",
    watchHours: sent.watchHours ?? 0,
  };
}

function frozenRetry(sent: NonNullable<Safety["retry"]>): Frozen<"retry"> {
  const delaySeconds = sent.delaySeconds ?? 600;
  return {
    max: sent.max ?? 1,
    delaySeconds,
    backoff: sent.backoff ?? 2,
    maxDelaySeconds: sent.maxDelaySeconds ?? Math.max(86_400, delaySeconds),
    ...(sent.codes && { codes: sent.codes }),
    ...(sent.notCodes && { notCodes: sent.notCodes }),
    withoutCode: sent.withoutCode ?? true,
    onSilent: sent.onSilent ?? false,
    waitingCounts: sent.waitingCounts ?? "running",
  };
}

function contradictionsOf({ proof: proven, limits: bounds, retry: again }: FrozenSafety): Violation[] {
  const found: Violation[] = [];
  if (proven) {
    const least = proven.graceSeconds + proven.stable.minutes * 60;
    if (proven.withinSeconds < least) {
      found.push({ path: "proof.withinSeconds", problem: `must not be below graceSeconds and stable.minutes together, ${least} s` });
    }
  }
  if (bounds?.giveUpSeconds !== undefined) {
    const longest = Math.max(bounds.notFetchedSeconds ?? 0, bounds.downloadingSeconds ?? 0, bounds.installingSeconds ?? 0);
    if (bounds.giveUpSeconds < longest) {
      found.push({ path: "limits.giveUpSeconds", problem: `must not be below the longest limit of a stage, ${longest} s` });
    }
  }
  if (again && again.maxDelaySeconds < again.delaySeconds) {
    found.push({ path: "retry.maxDelaySeconds", problem: `must not be below delaySeconds, ${again.delaySeconds} s` });
  }
  return found;
}

/** Makes the error of a policy that cannot be in force, which names its members. */
export function refused(violations: readonly Violation[]): HarrierError {
  const text = violations.map(({ path, problem }) => `${path} ${problem}.`).join(" ");
  return new HarrierError("constraintViolation", text, { info: violationsInfo(violations) });
}

/** A success of a set that is only downloaded leaves nothing to prove (contract beyond.md §1.1). @throws constraintViolation */
export function checkProvable(frozen: FrozenSafety | null, forceType: string, at: string): void {
  if (frozen?.proof && forceType === "downloadonly")
    throw refused([{ path: `${at}.proof`, problem: "is not possible with the type downloadonly" }]);
}

/** Whether a policy asks for evidence of the version, so that rules must be read. */
export const needsEvidence = (frozen: FrozenSafety | null): boolean => frozen?.proof?.require === "version";

/**
 * Makes the policy that controller takes. Where a version must be proven and nothing is expected, the device must only be alive, unless the policy
 * refuses that: then only the version counts that the device reports.
 */
export function resolvePolicy(frozen: FrozenSafety, expected: readonly ExpectedAttribute[]): ResolvedPolicy {
  const { proof: proven, limits: bounds, retry: again, skip } = frozen;
  const { fallback, require, ...rest } = proven ?? {};
  const alive = require === "alive" || (expected.length === 0 && fallback === "alive");
  return {
    ...(proven && {
      proof: { ...rest, require: alive ? "alive" : "version", expected: alive ? [] : [...expected] } as NonNullable<
        ResolvedPolicy["proof"]
      >,
    }),
    ...(bounds && { limits: bounds }),
    ...(again && { retry: resolvedRetryOf(again) }),
    skip,
  };
}

function resolvedRetryOf({ codes: only, notCodes: never, ...rest }: Frozen<"retry">): NonNullable<ResolvedPolicy["retry"]> {
  const ranges = (entries: readonly (number | string)[]) => entries.map(codesOf).filter((range) => range !== undefined);
  return { ...rest, ...(only && { codes: ranges(only) }), ...(never && { notCodes: ranges(never) }) };
}
