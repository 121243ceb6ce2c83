import { type ActionView, type EventPage, eventsOfTopic, eventTypes, type RolloutView, routeTable as r } from "@harrier/contracts";
import { unique } from "./build.ts";
import { call, type Dialect } from "./call.ts";
import { device, report } from "./device.ts";
import { rolloutBuilder } from "./rollout.ts";
import { typeBuilder } from "./types.ts";
import { eventually } from "./wait.ts";

export const success = report("closed", "success");
/** A failure of a device, with its code. */
export const failure = (code?: number) => report("closed", "failure", code === undefined ? {} : { code });

/** A proof that needs no time: the first contradiction counts, and one poll is enough. */
export const proof = (more: object = {}) => ({ proof: { graceSeconds: 0, stable: { polls: 1 }, ...more } });

/** Makes devices whose actions are watched by a safety policy, in one dialect, and looks at these. */
export function watchedBuilder(dialect: Dialect) {
  const rollouts = rolloutBuilder(dialect);
  const types = typeBuilder(dialect);
  const { build, view } = rollouts;

  /** A set, and a target type whose devices show its version as their attribute `sw`. */
  const shownSet = async (rule: object = { attribute: "sw", equals: `\${set.version}` }) => {
    const { set, moduleId } = await build.setWithArtifact();
    const key = (set as unknown as { type: string }).type;
    const { json } = await call<{ content: { id: number }[] }>(r.distributionSetTypes.list, dialect, { query: { q: `key==${key}` } });
    const type = await types.targetType([json.content[0]?.id as number], { evidence: [rule] });
    return { set, moduleId, targetType: type.id };
  };
  /** Targets of such a type, which `controllerid==<prefix>*` finds. */
  const showing = async (count: number) => {
    const { set, targetType, moduleId } = await shownSet();
    const prefix = unique("proof");
    const ids = Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
    await build.targets(...ids.map((controllerId) => ({ controllerId, targetType })));
    return { prefix, ids, set, moduleId, targetType };
  };
  const at = (targetId: string, actionId: number) => ({ params: { targetId, actionId } });
  const action = async (targetId: string, actionId: number) =>
    (await call<ActionView>(r.targets.getAction, dialect, at(targetId, actionId))).json;
  const safety = async (targetId: string, actionId: number) => (await action(targetId, actionId)).safety;
  /** Waits until what an action says of its watch fulfils a condition. */
  const safetyBecomes = (targetId: string, actionId: number, is: (seen: NonNullable<ActionView["safety"]>) => boolean, limitMs = 150_000) =>
    eventually(async () => {
      const seen = await safety(targetId, actionId);
      if (seen !== undefined && is(seen)) return seen;
      throw new Error(`the watch of action ${actionId} says ${JSON.stringify(seen)}`);
    }, limitMs);
  /** One target with a deployment that has to be proven by what it shows. */
  const proving = async (policy: object = proof()) => {
    const { ids, set, moduleId, targetType } = await showing(1);
    const [controllerId = ""] = ids;
    const actionId = await build.assign(set.id, controllerId, { safety: policy });
    return { controllerId, actionId, set, moduleId, targetType, on: device(controllerId) };
  };
  /** The same, whose device has reported its success. */
  const claimed = async (policy: object = proof()) => {
    const made = await proving(policy);
    await made.on.feedback(made.actionId, success);
    return made;
  };
  /** Polls until an action is proven. */
  const pollUntilProven = (controllerId: string, actionId: number) =>
    eventually(async () => {
      await device(controllerId).poll();
      return (await safety(controllerId, actionId))?.proof?.state === "proven";
    });
  /** Waits until a rollout's totals that are not empty, and what beside them is not, are these. */
  const counts = (id: number, totals: Partial<RolloutView["totalTargetsPerStatus"]>, beside: object = {}) =>
    eventually(async () => {
      const seen = await rollouts.get(id);
      const some = (all: object | undefined) => Object.fromEntries(Object.entries(all ?? {}).filter(([, n]) => n > 0));
      const now = JSON.stringify([some(seen.totalTargetsPerStatus), some(seen.safetyCounts)]);
      if (now === JSON.stringify([some(totals as object), some(beside)])) return seen;
      throw new Error(`rollout ${id} counts ${now}`);
    }, 150_000);
  /** The actions that a target has, the oldest first. */
  const attempts = async (controllerId: string) => (await view.actions(controllerId, { sort: "id:ASC", limit: 500 })).content;
  /** Waits until a failed action has its next attempt, and returns it. */
  const nextAttempt = (controllerId: string, failed: number) =>
    eventually(async () => {
      const id = (await safety(controllerId, failed))?.retriedBy;
      return id === undefined ? undefined : await action(controllerId, id);
    }, 150_000);

  /** Where the events that follow begin. */
  const eventsFromNow = async () => (await call<EventPage>(r.events.list, dialect)).json.next;
  /**
   * Waits until so many events about the watch of an action have come, holds each against its published schema, and returns the kinds of all: `silence`
   * for silence_changed.
   */
  const watchEvents = async (from: string, at: { controllerId: string; actionId: number }, count: number) => {
    const { actionProofChanged, actionSilenceChanged, actionRetryChanged } = eventTypes;
    const types = [actionProofChanged, actionSilenceChanged, actionRetryChanged].join(",");
    const found: EventPage["content"] = [];
    let after = from;
    await eventually(async () => {
      const { json } = await call<EventPage>(r.events.list, dialect, { query: { after, types, wait: 5, limit: 1_000 } });
      after = json.next;
      found.push(...json.content.filter(({ subject }) => subject === `targets/${at.controllerId}/actions/${at.actionId}`));
      return found.length >= count;
    }, 60_000);
    for (const event of found) eventsOfTopic["action-events"].parse(event);
    const kindOf = (type: string) => /([a-z]+)_changed/.exec(type)?.[1];
    return found.map(({ type, sequence, data }) => ({ kind: kindOf(type), sequence: Number(sequence), safety: data["safety"] }));
  };

  return {
    ...{ eventsFromNow, watchEvents },
    ...{ rollouts, types, build, view, shownSet, showing, at, action, safety, safetyBecomes, proving, claimed },
    ...{ pollUntilProven, counts, attempts, nextAttempt },
  };
}
