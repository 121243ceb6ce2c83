import { routeTable as r, type SafetyPolicyView } from "@harrier/contracts";
import { builder, unique } from "./build.ts";
import { call, type Dialect } from "./call.ts";
import { device, report } from "./device.ts";
import type { ValidRequest } from "./walk.ts";

/** A tenant has 100 policies at most, and tests of several files make some: beyond so many they are removed. */
const enough = 60;

/** Builds safety policies of the tenant, in one dialect. */
export function safetyPolicyBuilder(dialect: Dialect) {
  const one = (safetyPolicyId: number) => ({ params: { safetyPolicyId } });
  const body = (more: object = {}) => ({
    name: unique("policy"),
    description: "d",
    safety: { proof: { watchHours: 1 }, limits: { installingSeconds: 3_600 }, retry: { max: 2, codes: ["500-599"] } },
    ...more,
  });
  const list = async (): Promise<SafetyPolicyView[]> => (await call<SafetyPolicyView[]>(r.safetyPolicies.list, dialect)).json;
  const makeRoom = async (): Promise<void> => {
    const all = await list();
    if (all.length >= enough) await Promise.all(all.map(({ id }) => call(r.safetyPolicies.delete, dialect, one(id))));
  };
  const create = async (more: object = {}): Promise<SafetyPolicyView> => {
    await makeRoom();
    return (await call<SafetyPolicyView[]>(r.safetyPolicies.create, dialect, { body: [body(more)] })).json[0] as SafetyPolicyView;
  };
  return { one, body, list, makeRoom, create };
}

/** Makes a valid request for every route of safety policies. */
export function safetyPolicyRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { one, body, create, makeRoom } = safetyPolicyBuilder(dialect);
  /** An action of which its device has said how it ended. */
  const reported = async (item: object, result: "success" | "failure") => {
    const { controllerId, actionId } = await builder(dialect).deployment(item);
    await device(controllerId).feedback(actionId, report("closed", result));
    return { params: { targetId: controllerId, actionId } };
  };
  const fresh = async () => one((await create()).id);
  return {
    "safetyPolicies.list": async () => {
      await create();
      return {};
    },
    "safetyPolicies.create": async () => {
      await makeRoom();
      return { body: [body()] };
    },
    "safetyPolicies.get": fresh,
    "safetyPolicies.update": async () => ({ ...(await fresh()), body: { description: "e", safety: { proof: {} } } }),
    "safetyPolicies.delete": fresh,
    "targets.proveAction": async () => ({
      ...(await reported({ safety: { proof: {} } }, "success")),
      body: { verdict: "proven", remark: "seen in the lab" },
    }),
    "targets.retryAction": () => reported({}, "failure"),
  };
}
