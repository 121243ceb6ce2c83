import {
  type ActionView,
  type DistributionSetView,
  type Execution,
  type FinishedResult,
  type RolloutGroupView,
  type RolloutStatusName,
  type RolloutView,
  routeTable as r,
  type TargetView,
  type TotalsView,
} from "@harrier/contracts";
import { builder, unique } from "./build.ts";
import { type CallOptions, call, type Dialect, refused } from "./call.ts";
import { device, report } from "./device.ts";
import { credentials } from "./http.ts";
import { type Page, viewer } from "./look.ts";
import { eventually } from "./wait.ts";

/** A step of the engine takes far less than this. */
const stepMs = 40_000;

/** Returns the buckets of a rollout or group that are not empty. */
export function filled(totals: TotalsView | undefined): Partial<TotalsView> {
  return Object.fromEntries(Object.entries(totals ?? {}).filter(([, count]) => count > 0));
}

/** These commands on a rollout need nothing but its id. */
type Step = "start" | "pause" | "resume" | "stop" | "triggerNextGroup";

/** Does what an administrator does with rollouts, in one dialect. */
export function rolloutBuilder(dialect: Dialect) {
  const build = builder(dialect);
  const view = viewer(dialect);
  const one = (rolloutId: number): CallOptions => ({ params: { rolloutId } });

  /** Makes targets in order, which `name==<prefix>*` finds. */
  const fleet = async (count: number, more: object = {}): Promise<{ prefix: string; ids: string[] }> => {
    const prefix = unique("fleet");
    const ids = Array.from({ length: count }, (_, n) => `${prefix}-${String(n).padStart(4, "0")}`);
    // The targets are made one after the other in the order of their ids, because groups are filled in this order.
    await build.targets(...ids.map((controllerId) => ({ controllerId, ...more })));
    return { prefix, ids };
  };
  const filterOf = (prefix: string): string => `controllerid==${prefix}*`;

  const body = async (prefix: string, more: object = {}): Promise<object> => ({
    name: unique("rollout"),
    targetFilterQuery: filterOf(prefix),
    distributionSetId: "distributionSetId" in more ? undefined : (await build.set()).id,
    ...("amountGroups" in more || "groups" in more ? {} : { amountGroups: 1 }),
    ...more,
  });
  const create = async (prefix: string, more: object = {}, auth = credentials.admin): Promise<RolloutView> =>
    (await call<RolloutView>(r.rollouts.create, dialect, { body: await body(prefix, more), auth })).json;
  const notCreated = async (prefix: string, more: object, expected: readonly [number, string]) =>
    refused(r.rollouts.create, dialect, { body: await body(prefix, more) }, expected);

  const get = async (id: number): Promise<RolloutView> => (await call<RolloutView>(r.rollouts.get, dialect, one(id))).json;
  const groups = async (id: number): Promise<RolloutGroupView[]> => {
    const options = { ...one(id), query: { representation: "full", sort: "id:ASC", limit: 500 } };
    return (await call<Page<RolloutGroupView>>(r.rollouts.listGroups, dialect, options)).json.content;
  };
  const members = async (rolloutId: number, groupId: number, query: CallOptions["query"] = {}): Promise<string[]> => {
    const options = { params: { rolloutId, groupId }, query: { limit: 500, ...query } };
    return (await call<Page<TargetView>>(r.rollouts.groupTargets, dialect, options)).json.content.map(({ controllerId }) => controllerId);
  };
  /** Waits until the rollout has a status. */
  const become = (id: number, status: RolloutStatusName): Promise<RolloutView> =>
    eventually(async () => {
      const seen = await get(id);
      if (seen.status === status) return seen;
      throw new Error(`rollout ${id} is ${seen.status}, not ${status}`);
    }, stepMs);
  /**
   * Waits until the groups, in order, have the given status. The status changes first and the actions of a group follow, so a running group counts
   * only when none of its actions is scheduled any more.
   */
  const groupsBecome = (id: number, ...statuses: string[]): Promise<RolloutGroupView[]> =>
    eventually(async () => {
      const seen = await groups(id);
      const now = seen.map(({ status }) => status).join();
      const begun = seen.every(({ status, totalTargetsPerStatus }) => status !== "running" || totalTargetsPerStatus?.scheduled === 0);
      if (now === statuses.join() && begun) return seen;
      throw new Error(`the groups of rollout ${id} are ${now}, not ${statuses.join()}`);
    }, stepMs);

  const step = (name: Step, id: number) => call(r.rollouts[name], dialect, one(id));
  const noStep = (name: Step, id: number) => refused(r.rollouts[name], dialect, one(id), [400, "rollout.illegalState"]);
  const ready = async (prefix: string, more: object = {}) => become((await create(prefix, more)).id, "ready");
  const running = async (prefix: string, more: object = {}) => {
    const { id } = await ready(prefix, more);
    await step("start", id);
    return become(id, "running");
  };

  /** Reads the action that a rollout gave a target. */
  const actionOf = async (controllerId: string, rolloutId: number): Promise<ActionView> => {
    const found = (await view.actions(controllerId)).content.find((action) => action.rollout === rolloutId);
    if (found === undefined) throw new Error(`${controllerId} has no action of rollout ${rolloutId}`);
    return found;
  };
  /** Lets devices report, each on its own action of the rollout. */
  const reportAll = async (rolloutId: number, ids: readonly string[], execution: Execution, finished: FinishedResult) => {
    await Promise.all(ids.map(async (id) => device(id).feedback((await actionOf(id, rolloutId)).id, report(execution, finished))));
  };
  const set = (body: Parameters<typeof build.set>[0] = {}): Promise<DistributionSetView> => build.set(body);

  return {
    build,
    view,
    one,
    fleet,
    filterOf,
    body,
    create,
    notCreated,
    get,
    groups,
    members,
    become,
    groupsBecome,
    step,
    noStep,
    ready,
    running,
    actionOf,
    reportAll,
    set,
  };
}
