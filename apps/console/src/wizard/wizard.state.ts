export const stepNames = ["what", "who", "how", "when", "plan"] as const;
export type StepName = (typeof stepNames)[number];
export type Template = "canary" | "equal" | "all" | "own";

export interface GroupDraft {
  readonly name: string;
  readonly percent: string;
  readonly success: string;
  readonly error: string;
}

/** What has been written so far. Everything is text, as it is in its fields. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly set: string;
  readonly q: string;
  readonly template: Template;
  readonly amount: string;
  readonly success: string;
  readonly error: string;
  readonly groups: readonly GroupDraft[];
  readonly type: "forced" | "soft" | "downloadonly";
  readonly start: "manual" | "at";
  readonly startAt: string;
  readonly weight: string;
  readonly hasWindow: boolean;
  readonly schedule: string;
  readonly duration: string;
  readonly zone: string;
}

const group = (name: string, percent: string, success: string, error: string): GroupDraft => ({ name, percent, success, error });

/** A share is that of what the groups before it left. */
const canary = [group("canary", "5", "90", "10"), group("early", "25", "90", "10"), group("everyone", "100", "90", "20")];

export const emptyDraft: Draft = {
  name: "",
  description: "",
  set: "",
  q: "",
  template: "canary",
  amount: "5",
  success: "90",
  error: "10",
  groups: canary,
  type: "forced",
  start: "manual",
  startAt: "",
  weight: "1000",
  hasWindow: false,
  schedule: "0 0 2 * * ?",
  duration: "04:00:00",
  zone: "+00:00",
};

/** Chooses a template; the groups of one that has names them all, so that they may be changed. */
export function withTemplate(draft: Draft, template: Template): Draft {
  if (template === "canary") return { ...draft, template, groups: canary };
  return {
    ...draft,
    template,
    groups: template === "own" && draft.groups.length === 0 ? [group("group-1", "100", "90", "10")] : draft.groups,
  };
}

const isWhole = (text: string, min: number, max: number) => /^\d{1,4}$/.test(text) && Number(text) >= min && Number(text) <= max;

export type Problem =
  | "mustName"
  | "mustSet"
  | "mustFilter"
  | "badQuery"
  | "badAmount"
  | "noGroups"
  | "badPercent"
  | "badThreshold"
  | "badStart"
  | "badWeight";

/** What a step still lacks; the server's own checks come with the plan. */
export function problemsOf(step: StepName, draft: Draft, now: number, isQuery: (q: string) => boolean): Problem[] {
  const found: Problem[] = [];
  const need = (fine: boolean, problem: Problem) => {
    if (!fine) found.push(problem);
  };
  if (step === "what") {
    need(draft.name.trim() !== "", "mustName");
    need(draft.set !== "", "mustSet");
  }
  if (step === "who") {
    need(draft.q.trim() !== "", "mustFilter");
    need(draft.q.trim() === "" || isQuery(draft.q), "badQuery");
  }
  if (step === "how") {
    const own = draft.template === "canary" || draft.template === "own";
    need(!own || draft.groups.length > 0, "noGroups");
    need(draft.template !== "equal" || isWhole(draft.amount, 1, 500), "badAmount");
    need(!own || draft.groups.every(({ percent }) => isWhole(percent, 1, 100)), "badPercent");
    const thresholds = own ? draft.groups.flatMap(({ success, error }) => [success, error]) : [draft.success, draft.error];
    need(
      thresholds.every((text) => isWhole(text, 0, 100)),
      "badThreshold",
    );
  }
  if (step === "when") {
    need(draft.start !== "at" || Date.parse(draft.startAt) > now, "badStart");
    need(isWhole(draft.weight, 0, 1000), "badWeight");
  }
  return found;
}

/** The first step that lacks something; `plan` if none does. */
export function firstOpen(draft: Draft, now: number, isQuery: (q: string) => boolean): StepName {
  return stepNames.find((step) => problemsOf(step, draft, now, isQuery).length > 0) ?? "plan";
}

const conditions = (success: string, error: string) => ({
  successCondition: { condition: "THRESHOLD" as const, expression: success },
  errorCondition: { condition: "THRESHOLD" as const, expression: error },
});

/** The body of the request that the draft stands for. */
export function bodyOf(draft: Draft) {
  const own = draft.template === "canary" || draft.template === "own";
  return {
    name: draft.name.trim(),
    ...(draft.description.trim() === "" ? {} : { description: draft.description.trim() }),
    distributionSetId: Number(draft.set),
    targetFilterQuery: draft.q.trim(),
    type: draft.type,
    weight: Number(draft.weight),
    ...(draft.start === "at" ? { startAt: Date.parse(draft.startAt) } : {}),
    ...(draft.hasWindow ? { maintenanceWindow: { schedule: draft.schedule, duration: draft.duration, timezone: draft.zone } } : {}),
    ...(own
      ? {
          groups: draft.groups.map(({ name, percent, success, error }) => ({
            name,
            targetPercentage: Number(percent),
            ...conditions(success, error),
          })),
        }
      : { amountGroups: draft.template === "all" ? 1 : Number(draft.amount), ...conditions(draft.success, draft.error) }),
  };
}

/** With how many failures a group of this size goes beyond its error threshold; undefined if it never does (contract rollouts.md §4.5). */
export function failuresThatStop(size: number, errorPercent: number): number | undefined {
  const failures = Math.floor((size * errorPercent) / 100) + 1;
  return failures > size ? undefined : failures;
}
