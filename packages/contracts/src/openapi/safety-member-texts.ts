const limitOf = (stage: string) =>
  `How long an action may be ${stage} before it counts as silent, in seconds: 60 to 2592000; absent, as long as it likes`;
const maxText = "How many further attempts there are: 1 to 10";
const countText = "Whether silent actions count toward the error threshold (`error`) or are only shown (`none`)";
const expiryText = "What an action counts as that is not proven in time: `error`, or `success`, marked as unproven";
const policyText = "The name of a safety policy, whose members those beside it take the place of; `none` for no policy";

/** Descriptions of the members of safety policies and of rules of evidence. */
export const safetyMemberTexts: Readonly<Record<string, string>> = {
  attribute: "The attribute that devices send",
  backoff: "By what the delay is multiplied from attempt to attempt: 1 to 10",
  codes: "Which codes are tried again: numbers, and ranges such as `500-599`; absent, all are",
  count: countText,
  "SafetyLimits.count": countText,
  "FrozenLimits.count": countText,
  delaySeconds: "How long the first further attempt waits, in seconds: 0 to 2592000",
  downloadingSeconds: limitOf("downloading"),
  equals:
    "The value of the attribute; names of the distribution set and its modules may stand in it, such as set.version in braces behind a dollar",
  evidence: "What targets of the type show when they run a distribution set, at most 8 rules; all must hold",
  fallback: "For targets without evidence of the version: `alive` goes by polls alone, `refuse` refuses the request",
  giveUpSeconds: "How long after its start an action ends with an error if it has not ended by itself, in seconds: 60 to 2592000",
  graceSeconds: "How long after the claim another version is not held against a device, because it has not restarted yet: 0 to 86400",
  installingSeconds: limitOf("installing"),
  "Safety.limits": "How long actions may take",
  "SafetyParts.limits": "How long actions may take; absent, as long as they like",
  "SafetyRequest.limits": "How long actions may take; absent, as long as they like",
  match: "Whether the value must be the same (`exact`) or begin with it (`prefix`)",
  max: maxText,
  "SafetyRetry.max": maxText,
  "FrozenRetry.max": maxText,
  maxDelaySeconds: "The longest delay, in seconds",
  minutes: "How many minutes must pass, 0 to 10080",
  notCodes: "Which codes are never tried again, whatever `codes` says",
  notFetchedSeconds: limitOf("offered without being fetched"),
  onExpiry: expiryText,
  onSilent: "Whether also those actions are tried again that the server ended: timeout, refuted, unproven",
  policy: policyText,
  "Safety.policy": "The name of the safety policy that it came from",
  polls: "How many polls must be seen, 0 to 100, at most one a second",
  "SafetyParts.proof": "How a success is proven; absent, the device's word counts",
  "SafetyRequest.proof": "How a success is proven; absent, the device's word counts",
  "Safety.proof": "How a success is proven",
  require: "What proves a success: `version` (what the device shows) or `alive` (that it polls)",
  "SafetyParts.retry": "What is tried again; absent, nothing is",
  "SafetyRequest.retry": "What is tried again; absent, nothing is",
  "Safety.retry": "What is tried again",
  safety: "How a success is proven, how long a device may take, and what is tried again; absent, nothing is watched",
  "SafetyPolicy.safety": "What the policy holds, as it was sent",
  "SafetyPolicyCreate.safety": "What the policy holds",
  "SafetyPolicyUpdate.safety": "What the policy holds from now on, as a whole",
  "Rollout.safety": "The policy of the rollout with every default in place, as it was when the rollout was created",
  skip: "What is already there when a group starts: the set is assigned, or it is also installed",
  stable: "What must be seen of a device once the evidence is there",
  waitingCounts: "What an action counts as that waits for its next attempt",
  watchHours: "How long a proven action stays under watch, in hours: 0 to 720",
  withinSeconds: "How long after the claim a success must be proven, in seconds: 60 to 2592000",
  withoutCode: "Whether failures without a code are tried again",
};
