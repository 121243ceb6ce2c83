import { randomUUID } from "node:crypto";
import {
  createClient,
  hosts,
  type Identity,
  identityHeader,
  identityHeaders,
  type KeySet,
  keysOfMetadata,
  mayCall,
  methodKind,
  type OutCall,
  onBehalfHeader,
  type ServiceName,
  serviceNames,
} from "@harrier/rpc";
import type { Stack } from "@harrier/stack";
import { twoOfEach, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Forger, methodsOf, pathOf, protoServices, refused } from "./support/forger.ts";
import { callOnTheWire, grpcStatus } from "./support/grpc-wire.ts";
import { administrator, identityOf, keysOf } from "./support/identity.ts";
import { adminOf, replicaOf, replicasOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// The gRPC services form a graph without a cycle, callers are data, and the server enforces them (architecture §2).

let stack: Stack;
let keys: KeySet;
let forger: Forger;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: twoOfEach });
  keys = keysOf(stack);
  forger = new Forger(stack);
});
afterAll(() => stack?.stop());

const grpcAt = (service: ServiceName) => ({ port: replicaOf(stack, service).grpcPort as number });
const addressesOf = (service: ServiceName): string =>
  replicasOf(stack, service)
    .map(({ grpcPort }) => `127.0.0.1:${grpcPort}`)
    .join(",");

describe.each(protoServices)("%s", (service) => {
  test.each(methodsOf(service))("%s is done for callers in the table, with the keys of that service alone", async (method) => {
    for (const holder of serviceNames) await forger.checkAgainstTable(holder, service, method);
  });

  test("no service can call in the name of another with the keys that it holds", async () => {
    for (const holder of serviceNames.filter((one) => one !== hosts[service])) await forger.checkOtherNames(holder, service);
  });

  test("denies a call that is not signed, signed for another method or service, or too late", async () => {
    const method = methodsOf(service)[0] as string;
    const path = pathOf(service, method);
    const audience = hosts[service];
    const caller = serviceNames.find((one) => mayCall(one, service, method)) as ServiceName;
    const other = [...keys.keys()]
      .map((pair) => pair.split("/"))
      .find(([from, to]) => from === caller && to !== audience)?.[1] as ServiceName;
    expect(await callOnTheWire(grpcAt(audience), path, {})).toEqual(refused);
    const wrongs: Partial<Identity>[] = [{ path: `${path}X` }, { method: "GET" }, { expiresAt: Date.now() - 61_000 }];
    if (other !== undefined) wrongs.push({ audience: other });
    for (const changed of wrongs)
      expect(await forger.callAs(service, method, { caller, changed }), JSON.stringify(changed)).toEqual(refused);
    const right = forger.metadataOf(service, method, { caller });
    const token = right[identityHeader] as string;
    const swapped = `${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`;
    expect(await callOnTheWire(grpcAt(audience), path, { ...right, [identityHeader]: swapped })).toEqual(refused);
  });
});

describe("a call", () => {
  const service = "harrier.controller.v1.TargetsService";
  const method = "deleteTargets";
  const send = (headers: Record<string, string>, message?: Buffer) =>
    callOnTheWire(grpcAt("controller"), pathOf(service, method), headers, message);

  test("is good for one call, with its message, its command and its principal", async () => {
    const captured = forger.metadataOf(service, method, { caller: "management", person: administrator });
    expect(await send(captured, Buffer.from([10, 1, 120]))).toEqual(refused); // controllerIds: ["x"]
    // Each attempt has new metadata: the first use counts, whatever its outcome was.
    const fresh = () => forger.metadataOf(service, method, { caller: "management", person: administrator });
    expect(await send({ ...fresh(), [keysOfMetadata.commandId]: randomUUID() })).toEqual(refused);
    const otherPerson = forger.delegationOf({ ...administrator, subject: "root" }, "management", "controller") as string;
    expect(await send({ ...fresh(), [onBehalfHeader]: otherPerson })).toEqual(refused);
    const good = fresh();
    expect((await send(good)).status).toBe(grpcStatus.ok);
    expect(await send(good)).toEqual(refused);
  });

  test("in the name of a principal needs the gateway's delegation to this very service", async () => {
    const requested = { caller: "management", person: administrator } as const;
    expect((await forger.callAs(service, method, requested)).status).toBe(grpcStatus.ok);
    const root = { ...administrator, subject: "root" };
    for (const delegation of [
      "",
      forger.delegationOf(root, "management", "controller"),
      forger.delegationOf(administrator, "management", "controller", "another request"),
      forger.delegationOf(administrator, "rollout-engine", "controller"),
      forger.delegationOf(administrator, "rollout-engine", "management"),
    ])
      expect(await forger.callAs(service, method, { ...requested, delegation: delegation as string }), delegation).toEqual(refused);
    // Management cannot forge a delegation with its keys, because the gateway's key with controller is not among them.
    expect(keysOf(stack, "management").has("gateway/controller")).toBe(false);
  });
});

test("a client cannot be built for a caller that the table does not list", () => {
  expect(() =>
    createClient("harrier.controller.v1.TargetsService", { caller: "gateway", addresses: addressesOf("controller"), keys }),
  ).toThrow("gateway may not call");
});

/** Makes a call of management's for an administrator, with the gateway's delegation. */
function callFor(extra: Partial<OutCall> = {}): OutCall {
  const rid = randomUUID();
  const headers = identityHeaders(keys, identityOf(administrator, { audience: "management", method: "GET", path: "/", rid }));
  const onBehalf = { payload: headers[identityHeader].split(".")[3] as string, delegations: headers[onBehalfHeader] ?? "" };
  return { principal: administrator, rid, deadline: Date.now() + 5_000, onBehalf, ...extra };
}

test("a call with too little time left is denied before the work begins", async () => {
  const answer = await forger.callAs("harrier.controller.v1.TargetsService", "readSecurityTokens", {
    caller: "management",
    person: administrator,
    headers: { "grpc-timeout": "60m" },
  });
  expect(answer).toEqual({ status: grpcStatus.deadlineExceeded, code: "deadlineExceeded" });
});

test("an error keeps its identity across the call", async () => {
  const client = createClient("harrier.controller.v1.TargetsService", {
    caller: "management",
    addresses: addressesOf("controller"),
    keys,
  });
  try {
    const controllerId = uniqueName("unknown");
    await expect(client.updateTarget({ controllerId, name: "x" }, callFor())).rejects.toMatchObject({
      name: "HarrierError",
      code: "entityNotFound",
      info: { type: "Target", entityId: controllerId },
    });
  } finally {
    client.close();
  }
});

test("a command that comes twice is done once, whichever replica it reaches", async () => {
  const client = createClient("harrier.controller.v1.TargetsService", {
    caller: "management",
    addresses: addressesOf("controller"),
    keys,
  });
  try {
    expect(methodKind("harrier.controller.v1.TargetsService", "createTargets")).toBe("command");
    const controllerId = uniqueName("twice");
    const request = { targets: [{ controllerId, name: controllerId }] };
    const commandId = randomUUID();
    const answers = await Promise.all(Array.from({ length: 6 }, () => client.createTargets(request, callFor({ commandId }))));
    answers.push(await client.createTargets(request, callFor({ commandId })));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const { total } = await adminOf(stack).get<{ total: number }>(`targets?q=controllerId==${controllerId}`);
    expect(total).toBe(1);
    await expect(client.createTargets(request, callFor({ commandId: randomUUID() }))).rejects.toMatchObject({
      code: "entityAlreadyExists",
    });
  } finally {
    client.close();
  }
});
