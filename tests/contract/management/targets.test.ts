import { routeTable as r, type TargetView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { device } from "../support/device.ts";
import { viewer } from "../support/look.ts";
import { eventually } from "../support/wait.ts";

describe.each(dialects)("targets, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const one = (targetId: string) => ({ params: { targetId } });
  const change = async (targetId: string, body: object) =>
    (await call<TargetView>(r.targets.update, dialect, { ...one(targetId), body })).json;
  const noChange = (targetId: string, body: object, expected: readonly [number, string]) =>
    refused(r.targets.update, dialect, { ...one(targetId), body }, expected);
  const noCreate = (body: object, expected: readonly [number, string]) => refused(r.targets.create, dialect, { body: [body] }, expected);

  it("management 12.67 a target can be created with its id alone", async () => {
    const controllerId = unique();
    const made = await build.target({ controllerId });
    expect(made).toMatchObject({ controllerId, name: controllerId, updateStatus: "unknown", requestAttributes: true });
    expect(made.securityToken).toMatch(/^[0-9a-f]{32}$/);
    for (const member of ["pollStatus", "address", "ipAddress", "installedAt", "description", "targetType", "id", "autoConfirmActive"]) {
      expect(made).not.toHaveProperty(member);
    }
    const { _links, ...rest } = await view.target(controllerId);
    const { _links: listed, ...created } = made;
    expect(rest).toEqual(created);
    expect(Object.keys(listed)).toEqual(["self"]);
    expect(Object.keys(_links).sort()).toEqual(["actions", "assignedDS", "attributes", "installedDS", "metadata", "self"]);
    expect(_links.actions?.href).toMatch(/\/actions\?offset=0&limit=50&sort=id%3ADESC$/);
    expect(_links.metadata?.href).toMatch(/\/metadata(\?offset=0&limit=50)?$/);
  });

  it("management 4.6 every optional member is stored and shown", async () => {
    const body = { name: "n", description: "d", address: "http://10.1.2.3:80/x", securityToken: unique(), requestAttributes: false };
    expect(await build.target(body)).toMatchObject({ ...body, ipAddress: "10.1.2.3" });
  });

  it("management 5.11 a target whose attributes are not requested is not asked for them until they are", async () => {
    const made = await build.targets({ requestAttributes: false }, { requestAttributes: true }, {});
    expect(made.map(({ requestAttributes }) => requestAttributes)).toEqual([false, true, true]);
    const { controllerId } = made[0] as TargetView;
    expect(await device(controllerId).linkNames()).toEqual([]);
    expect((await view.target(controllerId)).requestAttributes).toBe(false);
    await change(controllerId, { requestAttributes: true });
    expect(await device(controllerId).linkNames()).toEqual(["configData"]);
    const twice = [{ controllerId, requestAttributes: false }];
    await refused(r.targets.create, dialect, { body: twice }, [409, "repo.entityAlreadyExists"]);
  });

  it.each([
    ["a blank", { controllerId: "a b" }],
    ["a slash", { controllerId: "a/b" }],
    ["a backslash", { controllerId: "a\\b" }],
    ["nothing but periods", { controllerId: ".." }],
    ["a control character", { controllerId: "a\u0085b" }],
    ["257 characters", { controllerId: "x".repeat(257) }],
    ["nothing", { controllerId: "" }],
    ["no id", { name: "n" }],
    ["null", { controllerId: null }],
    ["markup", { controllerId: "<b>x</b>" }],
  ])("management 12.68 a controllerId with %s is 400", async (_case, body) => {
    await noCreate(body, [400, "repo.constraintViolation"]);
  });

  it.each([
    [{ name: "n".repeat(129) }, "repo.constraintViolation"],
    [{ description: "d".repeat(513) }, "repo.constraintViolation"],
    [{ securityToken: "t".repeat(129) }, "repo.constraintViolation"],
    [{ securityToken: "" }, "repo.constraintViolation"],
    [{ securityToken: "t".repeat(15) }, "repo.constraintViolation"],
    [{ address: `http://h/${"a".repeat(512)}` }, "repo.constraintViolation"],
    [{ name: {} }, "rest.body.notReadable"],
    [{ targetType: "x" }, "rest.body.notReadable"],
  ])("management 1.6 %j is 400 %s", async (body, code) => {
    await noCreate({ controllerId: unique(), ...body }, [400, code]);
  });

  it("management 12.69 the name of a long id is cut", async () => {
    const controllerId = unique().padEnd(200, "x");
    expect((await build.target({ controllerId })).name).toBe(controllerId.slice(0, 128));
    expect((await build.target({ controllerId: unique().padEnd(256, "y") })).name).toHaveLength(128);
  });

  it("management 12.70 addresses must be valid URIs", async () => {
    await noCreate({ controllerId: unique(), address: "not a uri %%" }, [400, "repo.invalidTargetAddress"]);
    expect(await build.target({ address: "http://10.0.0.1:80" })).toMatchObject({ address: "http://10.0.0.1:80", ipAddress: "10.0.0.1" });
    const queued = await build.target({ address: "amqp://vhost/x" });
    expect(queued.address).toBe("amqp://vhost/x");
    expect(queued).not.toHaveProperty("ipAddress");
    await noChange(queued.controllerId, { address: "not a uri %%" }, [400, "repo.invalidTargetAddress"]);
  });

  it("management 12.71 a change touches only what it names, and never the id", async () => {
    const { controllerId, securityToken } = await build.target({ description: "d" });
    const changed = await change(controllerId, { controllerId: "other", name: "n", address: "http://10.0.0.9" });
    expect(changed).toMatchObject({ controllerId, name: "n", description: "d", securityToken, ipAddress: "10.0.0.9" });
    expect(changed).toEqual(await view.target(controllerId));
    expect(await change(controllerId, { name: null, description: "" })).toMatchObject({ name: "n" });
    await noChange(unique("nobody"), { name: "n" }, [404, "repo.entityNotFound"]);
    await noChange(controllerId, { name: "n".repeat(129) }, [400, "repo.constraintViolation"]);
    await noChange(controllerId, { name: [] }, [400, "rest.body.notReadable"]);
  });

  it("management 12.72 attributes can be requested, but a request cannot be withdrawn", async () => {
    const { controllerId } = await build.target();
    await noChange(controllerId, { requestAttributes: false, name: "other" }, [400, "repo.constraintViolation"]);
    expect((await view.target(controllerId)).name).toBe(controllerId);
    await device(controllerId).configData({ data: { b: "2", a: "1" } });
    expect((await view.target(controllerId)).requestAttributes).toBe(false);
    expect(Object.keys(await view.attributes(controllerId))).toEqual(["a", "b"]);
    expect((await change(controllerId, { requestAttributes: true })).requestAttributes).toBe(true);
  });

  it("management 12.73 an unknown target type is 404; -1 removes the type", async () => {
    const { controllerId } = await build.target();
    await noChange(controllerId, { targetType: 2_000_000_000 }, [404, "repo.entityNotFound"]);
    expect(await change(controllerId, { targetType: -1 })).not.toHaveProperty("targetType");
    await noCreate({ controllerId: unique(), targetType: 2_000_000_000 }, [404, "repo.entityNotFound"]);
  });

  it("management 12.75 without attributes, an assigned or installed set: 204; an unknown target: 404", async () => {
    const { controllerId } = await build.target();
    for (const route of [r.targets.attributes, r.targets.assignedSet, r.targets.installedSet]) {
      const { status, text } = await call(route, dialect, one(controllerId));
      expect([status, text]).toEqual([204, ""]);
      await refused(route, dialect, one(unique("nobody")), [404, "repo.entityNotFound"]);
    }
  });

  it("management 12.76 deleting a target deletes everything of it, and its id can be used again", async () => {
    const { controllerId } = await build.target();
    const set = await build.set();
    const actionId = await build.assign(set.id, controllerId);
    await device(controllerId).configData({ data: { a: "b" } });
    expect((await call(r.targets.delete, dialect, one(controllerId))).status).toBe(dialect === "spec" ? 200 : 204);
    await refused(r.targets.get, dialect, one(controllerId), [404, "repo.entityNotFound"]);
    await refused(r.targets.delete, dialect, one(controllerId), [404, "repo.entityNotFound"]);
    await refused(r.actions.get, dialect, { params: { actionId } }, [404, "repo.entityNotFound"]);
    await refused(r.targets.listActions, dialect, one(controllerId), [404, "repo.entityNotFound"]);
    await build.target({ controllerId });
    expect(await view.attributes(controllerId)).toEqual({});
    expect((await view.actions(controllerId)).total).toBe(0);
    expect(await view.standing(controllerId)).toEqual({ updateStatus: "unknown", assigned: undefined, installed: undefined });
    // The set has lost its last action, so it can be changed and deleted again.
    await call(r.distributionSets.delete, dialect, { params: { distributionSetId: set.id } });
    await refused(r.distributionSets.get, dialect, { params: { distributionSetId: set.id } }, [404, "repo.entityNotFound"]);
  });

  it("management 5.11 the poll status after a poll", async () => {
    const { controllerId } = await build.target();
    const before = Date.now();
    await device(controllerId).poll();
    const { pollStatus, lastControllerRequestAt } = await eventually(async () => {
      const seen = await view.target(controllerId);
      return seen.pollStatus !== undefined && seen;
    }, 5_000);
    expect(pollStatus?.lastRequestAt).toBe(lastControllerRequestAt);
    expect(pollStatus?.lastRequestAt).toBeGreaterThanOrEqual(before - 1_000);
    expect(pollStatus?.nextExpectedRequestAt).toBe((pollStatus?.lastRequestAt ?? 0) + 300_000);
    expect(pollStatus?.overdue).toBe(false);
  });

  it.each(["ü", "100%", "a;b", "_#ETE$ER", "q?x=1&y", "a+b", ".."])("management 4.6 the id %s works in every path", async (odd) => {
    const controllerId = odd === ".." ? `..${unique()}` : unique() + odd;
    const made = await build.target({ controllerId });
    expect(made._links.self?.href).toContain(encodeURIComponent(controllerId));
    expect((await view.target(controllerId)).controllerId).toBe(controllerId);
    expect((await change(controllerId, { description: "d" })).description).toBe("d");
    expect((await view.actions(controllerId)).total).toBe(0);
    await call(r.targets.delete, dialect, one(controllerId));
  });

  it("clients 22 odd ids are 404 and nothing worse", async () => {
    await refused(r.targets.get, dialect, one("_#ETE$ER"), [404, "repo.entityNotFound"]);
    await refused(r.distributionSets.get, dialect, { params: { distributionSetId: -1 } }, [404, "repo.entityNotFound"]);
    await refused(r.rollouts.get, dialect, { params: { rolloutId: -1 } }, [404, "repo.entityNotFound"]);
    await refused(r.configs.get, dialect, { params: { key: "_#ETE$ER" } }, [400, "configKeyInvalid"]);
  });
});
