import { describe, expect, it } from "vitest";
import { actingOf, callers, mayCall, mayConnect, onwardAudiences } from "./callers.ts";
import { createClient } from "./client.ts";
import { parseKeys } from "./keys.ts";
import { methods } from "./methods.ts";
import { loadService } from "./protos.ts";
import { hosts, type ProtoServiceName, serviceNames } from "./services.ts";

const keys = parseKeys(`gateway/controller=k1:${Buffer.alloc(32, 1).toString("base64")}`);
const services = Object.keys(callers) as ProtoServiceName[];

describe("caller table", () => {
  it("lists every proto service once in each table, and every method", () => {
    expect(Object.keys(hosts).sort()).toEqual([...services].sort());
    for (const service of services) {
      expect([...loadService(service).keys()].sort()).toEqual(Object.keys(methods[service]).sort());
      expect(Object.keys(callers[service]).sort()).toEqual(Object.keys(methods[service]).sort());
    }
  });

  it("keeps the gateway to identities and everybody from the gateway", () => {
    const ofGateway = services.filter((service) => mayConnect("gateway", service));
    expect(ofGateway).toEqual(["harrier.controller.v1.DeviceIdentityService", "harrier.management.v1.IdentityService"]);
    expect(Object.values(hosts)).not.toContain("gateway");
  });

  it("lets controller call nobody: it is the sink of the graph", () => {
    expect(services.filter((service) => mayConnect("controller", service))).toEqual([]);
  });

  it("lets a worker go on only with what is named, and needs the gateway's word for the rest", () => {
    const targets = "harrier.controller.v1.TargetsService";
    expect([actingOf("management", targets, "createTargets"), actingOf("management", targets, "deleteTargetsById")]).toEqual([
      "person",
      "either",
    ]);
    expect(actingOf("rollout-engine", "harrier.controller.v1.ActionsService", "startChunk")).toBe("itself");
    expect(actingOf("artifact-store", targets, "createTargets")).toBeUndefined();
    const onwards = ["gateway", "controller", "management", "artifact-store", "rollout-engine"] as const;
    expect(onwards.map(onwardAudiences)).toEqual([[], [], ["controller"], ["management"], ["controller", "management"]]);
  });

  it("lets artifact-store note downloads and nothing else of the actions", () => {
    const actions = "harrier.controller.v1.ActionsService";
    expect(mayConnect("artifact-store", actions)).toBe(true);
    expect(Object.keys(methods[actions]).filter((method) => mayCall("artifact-store", actions, method))).toEqual(["noteDownloads"]);
    expect(mayCall("management", actions, "noteDownloads")).toBe(false);
  });

  it.each(services)("refuses a client of %s to a service that is not listed", (service) => {
    for (const caller of serviceNames.filter((name) => !mayConnect(name, service))) {
      expect(() => createClient(service, { caller, addresses: "127.0.0.1:1", keys })).toThrow("callers.ts");
    }
  });
});
