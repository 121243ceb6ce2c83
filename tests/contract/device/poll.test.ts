import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { type ErrorBody, refused } from "../support/call.ts";
import { actionIdOf, device, report } from "../support/device.ts";
import { baseUrl, credentials, send } from "../support/http.ts";
import { view } from "../support/look.ts";
import { eventually, pause } from "../support/wait.ts";

const noTarget = (targetId: string) => refused(r.targets.get, "spec", { params: { targetId } }, [404, "repo.entityNotFound"]);

describe("poll and registration", () => {
  it("device 13.1 the first poll with the gateway token registers the target", async () => {
    const d = device(unique("new"));
    const { json } = await d.poll();
    expect(json).toEqual({
      config: { polling: { sleep: "00:05:00" } },
      _links: { configData: { href: `${baseUrl}/DEFAULT/controller/v1/${d.controllerId}/configData` } },
    });
    const target = await view.target(d.controllerId);
    expect(target).toMatchObject({ name: d.controllerId, updateStatus: "registered", requestAttributes: true });
    expect(target.description).toBe(`Plug and Play target: ${d.controllerId}`);
    expect(target.createdBy).toBe("CONTROLLER_PLUG_AND_PLAY");
    expect(target.securityToken).toMatch(/^[0-9a-f]{32}$/);
    expect(target.address).toMatch(/^https?:\/\/\S+$/);
  });

  it("device 13.2 an unknown device with a target token is 401 and not registered", async () => {
    const { securityToken } = await build.target();
    const d = device(unique("new"), { auth: credentials.target(securityToken as string) });
    await d.refused(r.device.poll, {}, [401, ""]);
    await noTarget(d.controllerId);
  });

  it("device 13.3 the first poll of a known target turns unknown into registered", async () => {
    const { controllerId, securityToken, updateStatus } = await build.target();
    expect(updateStatus).toBe("unknown");
    await device(controllerId, { auth: credentials.target(securityToken as string) }).poll();
    expect((await view.target(controllerId)).updateStatus).toBe("registered");
  });

  it("device 3.1 the last poll of a device is known as soon as its first poll is answered", async () => {
    const { controllerId } = await build.target();
    for (const d of [device(unique("new")), device(controllerId)]) {
      const before = Date.now() - 60_000;
      await d.poll();
      const target = await view.target(d.controllerId);
      expect(target.updateStatus).toBe("registered");
      expect(target.lastControllerRequestAt).toBeGreaterThan(before);
      expect(target.pollStatus).toMatchObject({ lastRequestAt: target.lastControllerRequestAt, overdue: false });
    }
  });

  it("device 13.9 an id of 257 characters or with white space is 400 and registers nothing", async () => {
    const long = unique("long").padEnd(257, "x");
    for (const id of [long, `${unique("a")} b`, ` ${unique("a")}`, `${unique("a")}\t`, `${unique("a")}\u00a0b`]) {
      await device(id).refused(r.device.poll, {}, [400, "repo.constraintViolation"]);
      await noTarget(id);
    }
  });

  it.each(["%2E", "%2e%2e", "a%2Fb", "a%5Cb", "a%0Ab", "a%1Fb", "a%7Fb", "a%C2%85b"])(
    "device 9.8 the id %s is 400 and registers nothing, by a poll or by E9",
    async (encoded) => {
      for (const path of [encoded, `${encoded}/confirmationBase`]) {
        const headers = { authorization: credentials.gateway };
        const { status, json } = await send<ErrorBody>(`/DEFAULT/controller/v1/${path}`, { headers });
        expect([status, json.errorCode]).toEqual([400, "hawkbit.server.error.repo.constraintViolation"]);
      }
      await noTarget(decodeURIComponent(encoded));
    },
  );

  it("device 13.9 an id of 256 characters is registered, with its name cut to 128", async () => {
    const id = unique("long").padEnd(256, "x");
    await device(id).poll();
    expect((await view.target(id)).name).toBe(id.slice(0, 128));
  });

  it.each(["ü", "grün:1@x+y=z,ß", "ключ", "%25", "a;b", "'\"<x", "日本", "a&b=c#d?e"])(
    "device 13.10 the id %s is carried encoded in the links, and they lead back",
    async (odd) => {
      const d = device(unique("id") + odd);
      const { configData } = await d.links();
      expect(configData).toBe(`${baseUrl}/DEFAULT/controller/v1/${encodeURIComponent(d.controllerId)}/configData`);
      const headers = { authorization: credentials.gateway, "content-type": "application/json" };
      const sent = await send(configData?.slice(baseUrl.length) ?? "", { method: "PUT", headers, body: '{"data":{"a":"b"}}' });
      expect(sent.status).toBe(200);
      expect(await view.attributes(d.controllerId)).toEqual({ a: "b" });
      expect((await view.target(d.controllerId))._links.self?.href).toContain(encodeURIComponent(d.controllerId));
    },
  );

  it("device 13.11 a poll that finds nothing new is 304 without a body, and still updates the last poll", async () => {
    const d = device(unique("new"));
    const first = await d.poll();
    const etag = first.headers["etag"] as string;
    expect(etag).toMatch(/^"0[0-9a-f]{32}"$/);
    const before = await eventually(async () => (await view.target(d.controllerId)).lastControllerRequestAt);
    await pause(20);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await d.ask(r.device.poll, {}, { headers: { "if-none-match": tag } });
      expect([again.status, again.text, again.headers["etag"]]).toEqual([304, "", etag]);
    }
    await eventually(async () => ((await view.target(d.controllerId)).lastControllerRequestAt ?? 0) > before);
    for (const tag of ["*", '"other"']) expect((await d.poll({ "if-none-match": tag })).status).toBe(200);
  });

  it("device 13.12 after an assignment the old ETag is not valid any more", async () => {
    const [{ controllerId }, set] = await Promise.all([build.target(), build.set()]);
    const d = device(controllerId);
    const etag = (await d.poll()).headers["etag"] as string;
    const actionId = await build.assign(set.id, controllerId);
    const { json, headers } = await d.poll({ "if-none-match": etag });
    const href = json._links?.deploymentBase?.href ?? "";
    expect(href).toMatch(new RegExp(`^${baseUrl}/DEFAULT/controller/v1/${controllerId}/deploymentBase/${actionId}\\?c=-?\\d+$`));
    expect(Math.abs(Number(href.split("c=")[1]))).toBeLessThanOrEqual(2 ** 31);
    expect(headers["etag"]).not.toBe(etag);
  });

  it("device 13.15 without an open action and with the attributes sent there are no links at all", async () => {
    const d = device(unique("new"));
    await d.poll();
    await d.configData({ data: { a: "b" } });
    expect((await d.poll()).json).toEqual({ config: { polling: { sleep: "00:05:00" } } });
  });

  it("device 13.16 a poll does not count as a change of the target", async () => {
    const { controllerId, lastModifiedAt, lastModifiedBy } = await build.target();
    await device(controllerId).poll();
    await eventually(async () => (await view.target(controllerId)).pollStatus);
    expect(await view.target(controllerId)).toMatchObject({ lastModifiedAt, lastModifiedBy });
  });

  it("device 13.18 two first polls at once make one target", async () => {
    for (let round = 0; round < 5; round += 1) {
      const d = device(unique("race"));
      const answers = await Promise.all(Array.from({ length: 6 }, () => d.poll()));
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect((await view.target(d.controllerId)).updateStatus).toBe("registered");
    }
  });

  it("device 13.19 the name of the tenant is found in any case, and links show it as it was requested", async () => {
    const d = device(unique("case"), { tenant: "default" });
    expect((await d.links()).configData).toBe(`${baseUrl}/default/controller/v1/${d.controllerId}/configData`);
    await device(d.controllerId, { tenant: "DeFault" }).configData({ data: { a: "b" } });
    expect(await view.attributes(d.controllerId)).toEqual({ a: "b" });
    expect(await device(d.controllerId).linkNames()).toEqual([]);
  });

  it("device 1 a controllerId keeps its case", async () => {
    const id = unique("Case");
    await device(id).poll();
    await noTarget(id.toLowerCase());
  });

  it("device 1 HEAD answers as GET does, without a body, and registers the device", async () => {
    const d = device(unique("head"));
    const head = await d.ask(r.device.poll, {}, { method: "HEAD" });
    const get = await d.poll();
    expect([head.status, head.text, head.headers["etag"]]).toEqual([200, "", undefined]);
    for (const name of ["content-length", "content-type"]) expect(head.headers[name]).toBe(get.headers[name]);
  });

  it("device 1 ids of actions start at 11 and stay below 2^31", async () => {
    const { controllerId, actionId } = await build.deployment();
    const { deploymentBase } = await device(controllerId).links();
    expect(actionIdOf(deploymentBase)).toBe(actionId);
    expect(actionId).toBeGreaterThanOrEqual(11);
    expect(actionId).toBeLessThan(2 ** 31);
    await device(controllerId).feedback(actionId, report("closed", "success"));
  });

  it.each(["", "/", "/unknown", "/deploymentBase", "/configData/x", "/softwaremodules/1"])(
    "device 0 the path …%s leads nowhere: 404",
    async (rest) => {
      const path = rest === "" ? "/DEFAULT/controller/v1/" : `/DEFAULT/controller/v1/${unique()}${rest}`;
      expect((await send(path, { headers: { authorization: credentials.gateway } })).status).toBe(404);
    },
  );

  it("device 9.8 path tricks do not reach the resources of others", async () => {
    const { controllerId } = await build.target();
    const own = `/DEFAULT/controller/v1/${controllerId}`;
    for (const path of [
      `${own}/../x`,
      `${own}%2F..%2Fx`,
      `/DEFAULT/controller/v1/%2e%2e/${controllerId}`,
      `//${own}`,
      `${own}/./configData`,
      `/%00${own}`,
    ]) {
      const { status } = await send(path, { headers: { authorization: credentials.gateway } });
      expect([400, 401, 404], path).toContain(status);
    }
  });
});
