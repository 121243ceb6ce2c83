import { actionStatus, forceType } from "@harrier/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Device } from "../device.ts";
import { deviceAddress } from "./device-address.ts";
import { type PollRow, pollStatements } from "./poll.sql.ts";
import { contentHash, linksOf } from "./poll.ts";

const device: Device = {
  tenantId: 1,
  tenant: "DEFAULT",
  controllerId: "gerät 1",
  traceparent: null,
  base: "http://ota.example:8080",
  tenantPath: "default",
  controllerPath: "ger%C3%A4t%201",
};
const own = "http://ota.example:8080/default/controller/v1/ger%C3%A4t%201";
const idle: PollRow = {
  targetId: 5,
  requestAttributes: false,
  installedActionId: null,
  actionId: null,
  status: null,
  revision: null,
  forceType: null,
  forceTimeMs: null,
  maintenance: null,
};
const open: PollRow = { ...idle, actionId: 12, status: actionStatus.RUNNING, revision: 3, forceType: forceType.forced };

describe("links of a poll", () => {
  test("without work there are no links", () => {
    expect(linksOf(idle, device, 0)).toEqual({});
  });

  test("the open action has one link, with ?c= where clients expect it and without where they take the last segment", () => {
    const c = contentHash(12, 3, false, false);
    expect(linksOf(open, device, 0)).toEqual({ deploymentBase: { href: `${own}/deploymentBase/12?c=${c}` } });
    expect(linksOf({ ...open, status: actionStatus.RETRIEVED }, device, 0)).toEqual({
      deploymentBase: { href: `${own}/deploymentBase/12?c=${c}` },
    });
    expect(linksOf({ ...open, status: actionStatus.WAIT_FOR_CONFIRMATION }, device, 0)).toEqual({
      confirmationBase: { href: `${own}/confirmationBase/12?c=${c}` },
    });
    expect(linksOf({ ...open, status: actionStatus.CANCELING }, device, 0)).toEqual({ cancelAction: { href: `${own}/cancelAction/12` } });
  });

  test("links to the installed action and to the request for attributes are added to it", () => {
    const links = linksOf({ ...open, installedActionId: 11, requestAttributes: true }, device, 0);
    expect(Object.keys(links).sort()).toEqual(["configData", "deploymentBase", "installedBase"]);
    expect(links.installedBase).toEqual({ href: `${own}/installedBase/11` });
    expect(links.configData).toEqual({ href: `${own}/configData` });
  });

  test("c changes when the force time passes", () => {
    const timed = { ...open, forceType: forceType.timeforced, forceTimeMs: 1_000 };
    expect(linksOf(timed, device, 999)).not.toEqual(linksOf(timed, device, 1_000));
  });

  test("c changes when the maintenance window opens and when it closes", () => {
    const maintenance = { schedule: "0 0 2 * * ?", duration: "01:00", timezone: "+00:00" };
    const at = (time: string) => linksOf({ ...open, maintenance }, device, Date.parse(`2026-11-21T${time}Z`));
    expect(at("02:00:01")).not.toEqual(at("01:59:59"));
    expect(at("03:00:01")).toEqual(at("01:59:59"));
    expect(at("02:30:00")).toEqual(at("02:00:01"));
  });
});

test("c is an int32, short enough for the oldest clients, and differs with the revision, the force time and the window", () => {
  const id = fc.integer({ min: 11, max: 2_147_483_647 });
  const revision = fc.integer({ min: 1, max: 1_000 });
  fc.assert(
    fc.property(id, revision, fc.boolean(), fc.boolean(), (actionId, n, forced, inWindow) => {
      const c = contentHash(actionId, n, forced, inWindow);
      expect(c).toBe(c | 0);
      expect(contentHash(actionId, n + 1, forced, inWindow)).not.toBe(c);
      expect(contentHash(actionId, n, !forced, inWindow)).not.toBe(c);
      expect(contentHash(actionId, n, forced, !inWindow)).not.toBe(c);
      expect(`deploymentBase/${actionId}?c=${c}`.length).toBeLessThanOrEqual(49);
    }),
  );
});

test("the address comes from what the gateway forwards", () => {
  expect(deviceAddress(undefined)).toBeNull();
  expect(deviceAddress("10.0.0.7")).toBe("http://10.0.0.7");
  expect(deviceAddress("10.0.0.7, 192.168.0.1")).toBe("http://10.0.0.7");
  expect(deviceAddress("::ffff:10.0.0.7")).toBe("http://10.0.0.7");
  expect(deviceAddress("2001:db8::1")).toBe("http://[2001:db8::1]");
  expect(deviceAddress("javascript:alert(1)")).toBeNull();
});

test("a poll asks nothing about watches, attempts and policies (contract beyond.md §1)", () => {
  for (const { text } of [pollStatements(), pollStatements("1 as override")].flatMap(({ one, many }) => [one, many])) {
    expect(text).not.toMatch(/watch|tally|polic|attempt|retr/);
  }
});
