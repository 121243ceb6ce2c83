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
  it("lists every proto service and every method once in each table", () => {
    expect(Object.keys(hosts).sort()).toEqual([...services].sort());
    for (const service of services) {
      expect([...loadService(service).keys()].sort()).toEqual(Object.keys(methods[service]).sort());
      expect(Object.keys(callers[service]).sort()).toEqual(Object.keys(methods[service]).sort());
    }
  });

  it("allows calls to the gateway for nobody, and calls of the gateway for identities only", () => {
    const ofGateway = services.filter((service) => mayConnect("gateway", service));
    expect(ofGateway).toEqual(["harrier.controller.v1.DeviceIdentityService", "harrier.management.v1.IdentityService"]);
    expect(Object.values(hosts)).not.toContain("gateway");
  });

  it("lists no call of controller, which calls no service", () => {
    expect(services.filter((service) => mayConnect("controller", service))).toEqual([]);
  });

  it("allows a worker to make only the listed calls as itself; the others need the gateway's delegation", () => {
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

  it("allows artifact-store to record downloads, and no other call of the actions", () => {
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
