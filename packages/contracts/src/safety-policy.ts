import { z } from "zod";

/**
 * A safety policy as controller takes it: every default filled in, named policies merged, and what a device must show resolved to plain values
 * (contract beyond.md §1.1, §1.2). management and rollout-engine make it with safety.ts when actions are created; controller keeps it unchanged for as
 * long as an action names it.
 */

/** One attribute that proves the new version: the device must send exactly this value, or one that begins with it. */
export const expectedAttribute = z.strictObject({
  key: z.string().min(1).max(128),
  value: z.string().min(1).max(128),
  match: z.enum(["exact", "prefix"]),
});
export type ExpectedAttribute = z.output<typeof expectedAttribute>;

/** How a success must be proven. `version`: by an expected attribute or the reported version; `alive`: by polls after the claim and its grace. */
export const resolvedProof = z.strictObject({
  require: z.enum(["version", "alive"]),
  stable: z.strictObject({ polls: z.int().min(0).max(100), minutes: z.int().min(0).max(10_080) }),
  graceSeconds: z.int().min(0).max(86_400),
  withinSeconds: z.int().min(60).max(2_592_000),
  onExpiry: z.enum(["error", "success"]),
  watchHours: z.int().min(0).max(720),
  /** All must hold. With `version` and none of them only the version that the device reports counts. */
  expected: z.array(expectedAttribute).max(8),
});
export type ResolvedProof = z.output<typeof resolvedProof>;

const limitSeconds = z.int().min(60).max(2_592_000);

/** How long an action may stay in a stage before it counts as silent, and when it is given up. An absent limit means none. */
export const resolvedLimits = z.strictObject({
  notFetchedSeconds: limitSeconds.optional(),
  downloadingSeconds: limitSeconds.optional(),
  installingSeconds: limitSeconds.optional(),
  /** Whether silent actions count toward the error threshold of their group. */
  count: z.enum(["error", "none"]),
  giveUpSeconds: limitSeconds.optional(),
});
export type ResolvedLimits = z.output<typeof resolvedLimits>;

/** The codes from `from` to `to`, both included. */
export const codeRange = z.strictObject({ from: z.int(), to: z.int() });

/** Which failures are tried again, and when. */
export const resolvedRetry = z.strictObject({
  max: z.int().min(1).max(10),
  delaySeconds: z.int().min(0).max(2_592_000),
  backoff: z.number().min(1).max(10),
  maxDelaySeconds: z.int().min(0).max(2_592_000),
  /** Absent: any code. */
  codes: z.array(codeRange).max(50).optional(),
  /** These are never tried again, whatever `codes` names. */
  notCodes: z.array(codeRange).max(50).optional(),
  withoutCode: z.boolean(),
  /** Whether also those are tried again that the server ended: timeout, refuted, unproven. */
  onSilent: z.boolean(),
  waitingCounts: z.enum(["running", "error"]),
});
export type ResolvedRetry = z.output<typeof resolvedRetry>;

export const resolvedPolicy = z.strictObject({
  proof: resolvedProof.optional(),
  limits: resolvedLimits.optional(),
  retry: resolvedRetry.optional(),
  /** What "already there" means when a group starts: the set is assigned, or assigned and really installed. */
  skip: z.enum(["assigned", "installed"]).default("assigned"),
});
export type ResolvedPolicy = z.output<typeof resolvedPolicy>;
