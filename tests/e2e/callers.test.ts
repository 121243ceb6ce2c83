import { randomUUID } from "node:crypto";
import {
  callers,
  createClient,
  hosts,
  identityHeader,
  type KeySet,
  mayCall,
  methodKind,
  methods,
  type OutCall,
  type ProtoServiceName,
  type ServiceName,
  serviceNames,
  signIdentity,
} from "@harrier/rpc";
import type { Stack } from "@harrier/stack";
import { twoOfEach, uniqueName } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callOnTheWire, grpcStatus } from "./support/grpc-wire.ts";
import { administrator, identityOf, keysOf } from "./support/identity.ts";
import { adminOf, replicaOf, replicasOf } from "./support/replicas.ts";
import { startAnsweringStack } from "./support/serving.ts";

// architecture §2: the gRPC services form a graph without a cycle, callers are data, and the server holds everyone to it

let stack: Stack;
let keys: KeySet;

beforeAll(async () => {
  stack = await startAnsweringStack({ replicas: twoOfEach });
  keys = keysOf(stack);
});
afterAll(() => stack?.stop());

const protoServices = Object.keys(callers) as ProtoServiceName[];
const methodsOf = (service: ProtoServiceName): string[] => Object.keys(methods[service]);
const pathOf = (service: string, method: string): string => `/${service}/${method.charAt(0).toUpperCase()}${method.slice(1)}`;
const grpcPortOf = (service: ServiceName, index = 0): number => replicaOf(stack, service, index).grpcPort as number;
const addressesOf = (service: ServiceName): string =>
  replicasOf(stack, service)
    .map(({ grpcPort }) => `127.0.0.1:${grpcPort}`)
    .join(",");

/** A call by `caller`, properly signed, whatever the table says about it. */
function callAs(caller: ServiceName, service: ProtoServiceName, method: string, headers: Record<string, string> = {}) {
  const audience = hosts[service];
  const identity = identityOf(administrator, { audience, method: "GRPC", path: pathOf(service, method), caller });
  return callOnTheWire(grpcPortOf(audience), pathOf(service, method), {
    [identityHeader]: signIdentity(keys, identity),
    "harrier-command-id": randomUUID(),
    ...headers,
  });
}

describe.each(protoServices)("%s", (service) => {
  test.each(methodsOf(service))("%s is refused to every service that the table does not list", async (method) => {
    for (const caller of serviceNames) {
      const answer = await callAs(caller, service, method);
      const shown = `${caller}: ${JSON.stringify(answer)}`;
      if (mayCall(caller, service, method)) {
        expect([grpcStatus.permissionDenied, grpcStatus.unauthenticated], shown).not.toContain(answer.status);
      } else expect(answer, shown).toEqual({ status: grpcStatus.permissionDenied, code: "insufficientPermission" });
    }
  });

  test("refuses who is not signed, signed for another method, for another service, or too late", async () => {
    const method = methodsOf(service)[0] as string;
    const path = pathOf(service, method);
    const audience = hosts[service];
    const caller = serviceNames.find((one) => mayCall(one, service, method)) as ServiceName;
    const other = serviceNames.find((one) => one !== audience && keys.has(one)) as ServiceName;
    const right = identityOf(administrator, { audience, method: "GRPC", path, caller });
    const refused = { status: grpcStatus.unauthenticated, code: "unauthenticated" };
    const withIdentity = (token: string) => callOnTheWire(grpcPortOf(audience), path, { [identityHeader]: token });
    expect(await callOnTheWire(grpcPortOf(audience), path, {})).toEqual(refused);
    for (const wrong of [{ path: `${path}X` }, { method: "GET" }, { audience: other }, { expiresAt: Date.now() - 1 }])
      expect(await withIdentity(signIdentity(keys, { ...right, ...wrong })), JSON.stringify(wrong)).toEqual(refused);
    const token = signIdentity(keys, right);
    expect(await withIdentity(`${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`)).toEqual(refused);
  });
});

test("a client cannot be built for a caller that the table does not list", () => {
  expect(() =>
    createClient("harrier.controller.v1.TargetsService", { caller: "gateway", addresses: addressesOf("controller"), keys }),
  ).toThrow("gateway may not call");
});

const callFor = (extra: Partial<OutCall> = {}): OutCall => ({
  principal: administrator,
  rid: randomUUID(),
  deadline: Date.now() + 5_000,
  ...extra,
});

test("too little time is refused before the work begins", async () => {
  const answer = await callAs("management", "harrier.controller.v1.TargetsService", "readSecurityTokens", { "grpc-timeout": "60m" });
  expect(answer).toEqual({ status: grpcStatus.deadlineExceeded, code: "deadlineExceeded" });
});

test("an error crosses with its identity", async () => {
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
