import { routeTable as r, type SafetyPolicyView } from "@harrier/contracts";
import { builder, unique } from "./build.ts";
import { call, type Dialect, type ErrorBody } from "./call.ts";
import { device, report } from "./device.ts";
import type { ValidRequest } from "./walk.ts";

/** A member that is refused, by its path, with the code of the refusal; `safety` stands before it. */
export const outOfRange: readonly [path: string, safety: object, code: string][] = [
  ["proof.stable.polls", { proof: { stable: { polls: 101 } } }, "repo.constraintViolation"],
  ["proof.stable.minutes", { proof: { stable: { minutes: -1 } } }, "repo.constraintViolation"],
  ["proof.graceSeconds", { proof: { graceSeconds: 86_401 } }, "repo.constraintViolation"],
  ["proof.withinSeconds", { proof: { withinSeconds: 59 } }, "repo.constraintViolation"],
  ["proof.watchHours", { proof: { watchHours: 721 } }, "repo.constraintViolation"],
  ["limits.notFetchedSeconds", { limits: { notFetchedSeconds: 59 } }, "repo.constraintViolation"],
  ["limits.downloadingSeconds", { limits: { downloadingSeconds: 2_592_001 } }, "repo.constraintViolation"],
  ["limits.installingSeconds", { limits: { installingSeconds: 1 } }, "repo.constraintViolation"],
  ["limits.giveUpSeconds", { limits: { giveUpSeconds: 0 } }, "repo.constraintViolation"],
  ["retry.max", { retry: { max: 11 } }, "repo.constraintViolation"],
  ["retry.delaySeconds", { retry: { max: 1, delaySeconds: -1 } }, "repo.constraintViolation"],
  ["retry.backoff", { retry: { max: 1, backoff: 11 } }, "repo.constraintViolation"],
  ["retry.maxDelaySeconds", { retry: { max: 1, maxDelaySeconds: 2_592_001 } }, "repo.constraintViolation"],
  ["retry.codes.0", { retry: { max: 1, codes: ["a-b"] } }, "repo.constraintViolation"],
  ["retry.notCodes.1", { retry: { max: 1, notCodes: [1, "2-"] } }, "repo.constraintViolation"],
  // words that there are not
  ["proof.require", { proof: { require: "word" } }, "rest.body.notReadable"],
  ["proof.fallback", { proof: { fallback: "none" } }, "rest.body.notReadable"],
  ["proof.onExpiry", { proof: { onExpiry: "proven" } }, "rest.body.notReadable"],
  ["limits.count", { limits: { count: "silent" } }, "rest.body.notReadable"],
  ["retry.waitingCounts", { retry: { max: 1, waitingCounts: "none" } }, "rest.body.notReadable"],
  ["skip", { skip: "proven" }, "rest.body.notReadable"],
  // members that contradict each other, or that lack one
  ["proof.withinSeconds", { proof: { withinSeconds: 60 } }, "repo.constraintViolation"],
  ["limits.giveUpSeconds", { limits: { installingSeconds: 120, giveUpSeconds: 60 } }, "repo.constraintViolation"],
  ["retry.maxDelaySeconds", { retry: { max: 1, delaySeconds: 120, maxDelaySeconds: 60 } }, "repo.constraintViolation"],
  ["retry.max", { retry: {} }, "repo.constraintViolation"],
];

/** The paths of the members that a refusal names. */
export const pathsOf = ({ info }: ErrorBody) => ((info?.["violations"] ?? []) as { path: string }[]).map(({ path }) => path);

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
