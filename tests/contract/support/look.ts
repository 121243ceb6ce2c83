import {
  type ActionStatusView,
  type ActionView,
  type DistributionSetView,
  routeTable as r,
  type SoftwareModuleView,
  type TargetView,
} from "@harrier/contracts";
import { stateOf } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";

export interface Page<T> {
  content: T[];
  total: number;
  size: number;
}

/** Reads what an administrator sees, in one dialect. */
export function viewer(dialect: Dialect) {
  const get = async <T>(route: Parameters<typeof call>[0], options: CallOptions = {}): Promise<T> =>
    (await call<T>(route, dialect, options)).json;

  const target = (targetId: string) => get<TargetView>(r.targets.get, { params: { targetId } });
  const attributes = async (targetId: string): Promise<Record<string, string>> =>
    (await get<Record<string, string> | undefined>(r.targets.attributes, { params: { targetId } })) ?? {};
  /** The result is undefined where no set is assigned. */
  const assigned = (targetId: string) => get<DistributionSetView | undefined>(r.targets.assignedSet, { params: { targetId } });
  const installed = (targetId: string) => get<DistributionSetView | undefined>(r.targets.installedSet, { params: { targetId } });
  const actions = (targetId: string, query: CallOptions["query"] = {}) =>
    get<Page<ActionView>>(r.targets.listActions, { params: { targetId }, query });
  const action = (targetId: string, actionId: number) => get<ActionView>(r.targets.getAction, { params: { targetId, actionId } });
  const state = async (targetId: string, actionId: number) => stateOf(await action(targetId, actionId));
  const history = async (targetId: string, actionId: number, query: CallOptions["query"] = { limit: 500 }) =>
    (await get<Page<ActionStatusView>>(r.targets.actionStatus, { params: { targetId, actionId }, query })).content;
  const set = (distributionSetId: number) => get<DistributionSetView>(r.distributionSets.get, { params: { distributionSetId } });
  const module = (softwareModuleId: number) => get<SoftwareModuleView>(r.softwareModules.get, { params: { softwareModuleId } });

  /** Reads the update status, and the ids of the assigned and the installed set of a target. */
  const standing = async (targetId: string) => {
    const [seen, a, i] = await Promise.all([target(targetId), assigned(targetId), installed(targetId)]);
    return { updateStatus: seen.updateStatus, assigned: a?.id, installed: i?.id };
  };

  return { target, attributes, assigned, installed, actions, action, state, history, set, module, standing };
}

/** Cases at the device interface use this one, because the dialect does not matter to them. */
export const view = viewer("spec");
