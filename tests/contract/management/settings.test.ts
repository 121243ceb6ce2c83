import {
  type ConfigEntryView,
  type ConfigSchemaView,
  type ConfigView,
  type DistributionSetTypeView,
  routeTable as r,
} from "@harrier/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { device } from "../support/device.ts";
import { credentials } from "../support/http.ts";
import type { Page } from "../support/look.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { eventually } from "../support/wait.ts";

const at = (key: string) => ({ params: { key } });

describe.each(dialects)("settings of the tenant, %s", (dialect) => {
  inOwnTenant(dialect);
  const all = async () => (await call<Record<string, ConfigView & Partial<ConfigEntryView>>>(r.configs.list, dialect)).json;
  const get = async (key: string) => (await call<ConfigView>(r.configs.get, dialect, at(key))).json;
  const put = (key: string, value: unknown) => call<ConfigView>(r.configs.put, dialect, { ...at(key), body: { value } });
  const noPut = (key: string, body: unknown, expected: readonly [number, string]) =>
    refused(r.configs.put, dialect, { ...at(key), body }, expected);
  const reset = (key: string) => call(r.configs.delete, dialect, at(key));
  const setTypeId = async (key: string) =>
    (await call<Page<DistributionSetTypeView>>(r.distributionSetTypes.list, dialect, { query: { q: `key==${key}` } })).json.content[0]
      ?.id as number;

  const touched = ["pollingTime", "pollingOverdueTime", "action.cleanup.enabled", "action.cleanup.actionExpiry"];
  afterEach(async () => {
    for (const key of touched) await reset(key);
    await put("default.ds.type", await setTypeId("os_app"));
  });

  it("management 12.118 polling times are HH:MM:SS from half a minute to a day", async () => {
    for (const key of ["pollingTime", "pollingOverdueTime"]) {
      for (const value of ["00:00:30", "23:59:59"]) {
        await put(key, value);
        expect((await get(key)).value).toBe(value);
      }
      for (const value of ["00:00:29", "24:00:00", "5m", "", "00:5:00", "00:60:00", 300, true, {}, ["00:05:00"]]) {
        await noPut(key, { value }, [400, "configValueInvalid"]);
      }
      expect((await get(key)).value).toBe("23:59:59");
    }
  });

  it("management 12.118, clients 19 devices get the configured polling time", async () => {
    const d = device(unique());
    const sleep = async () => (await d.poll()).json.config.polling.sleep;
    await put("pollingTime", "00:00:45");
    // The tag is that of this very answer: a replica that learns of the change a moment later answers the one before.
    const etag = await eventually(async () => {
      const { json, headers } = await d.poll();
      return json.config.polling.sleep === "00:00:45" && (headers["etag"] as string);
    }, 20_000);
    await reset("pollingTime");
    await eventually(async () => (await sleep()) === "00:05:00", 20_000);
    await eventually(async () => (await d.ask(r.device.poll, {}, { headers: { "if-none-match": etag } })).status === 200, 20_000);
  });

  it("console M17 the schema has every setting, its default is in force, and what lies beyond its limits is refused", async () => {
    const { json } = await call<ConfigSchemaView[]>(r.configs.schema, dialect);
    const stored = await all();
    expect(json.map(({ key }) => key).toSorted()).toEqual(Object.keys(stored).toSorted());
    for (const { key, type, default: initial, minimum, maximum, words, fixed } of json) {
      if (stored[key]?.global) expect(initial, key).toBe(stored[key].value);
      if (initial !== undefined) expect(typeof initial, key).toBe(type === "integer" ? "number" : type);
      if (typeof minimum === "number") await noPut(key, { value: minimum - 1 }, [400, "configValueInvalid"]);
      if (typeof maximum === "number") await noPut(key, { value: maximum + 1 }, [400, "configValueInvalid"]);
      if (typeof minimum === "string") await noPut(key, { value: "00:00:00" }, [400, "configValueInvalid"]);
      if (words !== undefined) await noPut(key, { value: "NO_SUCH_WORD" }, [400, "configValueInvalid"]);
      if (fixed !== undefined) await noPut(key, { value: initial !== true }, [400, "configValueInvalid"]);
    }
    const text = json.find(({ key }) => key === "artifact.links") as ConfigSchemaView;
    await noPut(text.key, { value: "x".repeat((text.maxLength as number) + 1) }, [400, "repo.constraintViolation"]);
  });

  it("management 12.119 unknown keys are 400", async () => {
    await noPut("foo", { value: "x" }, [400, "configKeyInvalid"]);
    await refused(r.configs.get, dialect, at("foo"), [400, "configKeyInvalid"]);
    await refused(r.configs.putMany, dialect, { body: { foo: "x" } }, [400, "configKeyInvalid"]);
    for (const key of ["__proto__", "constructor", "toString", "POLLINGTIME"]) {
      await refused(r.configs.get, dialect, at(key), [400, "configKeyInvalid"]);
      await noPut(key, { value: "x" }, [400, "configKeyInvalid"]);
    }
  });

  it("management 12.120 defaults are global and have no author; a stored value has one; a reset restores the default", async () => {
    const key = "action.cleanup.enabled";
    const initial = await get(key);
    expect(initial).toMatchObject({ value: false, global: true });
    for (const member of ["createdBy", "createdAt", "lastModifiedBy", "lastModifiedAt"]) expect(initial).not.toHaveProperty(member);
    const answer = await put(key, true);
    const set = await get(key);
    expect(set).toMatchObject({ value: true, global: false, createdBy: credentials.adminUser, lastModifiedBy: credentials.adminUser });
    if (dialect === "spec") expect(answer.json).toEqual(set);
    else expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await all())[key]).toMatchObject({ value: true, global: false });
    expect((await reset(key)).status).toBe(dialect === "spec" ? 200 : 204);
    expect(await get(key)).toEqual(initial);
    expect(set._links?.self?.href).toMatch(new RegExp(`/system/configs/${key}$`));
  });

  it("management 4.11, clients 19 all keys are listed at once, each with its link", async () => {
    const entries = await all();
    const known = [
      "pollingTime",
      "pollingOverdueTime",
      "authentication.targettoken.enabled",
      "authentication.gatewaytoken.enabled",
      "default.ds.type",
    ];
    expect(Object.keys(entries)).toEqual(expect.arrayContaining([...known, "authentication.gatewaytoken.key", "implicit.lock.enabled"]));
    for (const [key, entry] of Object.entries(entries)) {
      const single = await get(key);
      const { links, _links, ...rest } = entry;
      const { _links: own, ...same } = single;
      expect(rest).toEqual(same);
      const href = dialect === "spec" ? _links?.self?.href : links?.find(({ rel }) => rel === "self")?.href;
      expect(href).toBe(own?.self?.href);
    }
    expect(entries["authentication.gatewaytoken.key"]?.value).toBe(credentials.gatewayKey);
  });

  it("management 12.121 several keys are changed at once: all or none", async () => {
    const before = await all();
    const good = { pollingTime: "00:01:00", "action.cleanup.enabled": true, "default.ds.type": await setTypeId("os") };
    for (const [bad, status, code] of [
      [{ pollingOverdueTime: "x" }, 400, "configValueInvalid"],
      [{ foo: 1 }, 400, "configKeyInvalid"],
      [{ "default.ds.type": 2_000_000_000 }, 404, "repo.entityNotFound"],
      [{ "default.ds.type": "x" }, 400, "configValueInvalid"],
      [{ pollingOverdueTime: "x".repeat(513) }, 400, "repo.constraintViolation"],
    ] as const) {
      await refused(r.configs.putMany, dialect, { body: { ...good, ...bad } }, [status, code]);
      expect(await all()).toEqual(before);
    }
    const answer = await call<ConfigView[]>(r.configs.putMany, dialect, { body: good });
    if (dialect === "spec") expect(answer.json.map(({ value }) => value).sort()).toEqual(Object.values(good).sort());
    const after = await all();
    for (const [key, value] of Object.entries(good)) expect(after[key]?.value).toBe(value);
  });

  it("management 8.2 null is unreadable, alone or among other values", async () => {
    await noPut("pollingTime", { value: null }, [400, "rest.body.notReadable"]);
    await noPut("pollingTime", {}, [400, "rest.body.notReadable"]);
    await noPut("pollingTime", "x", [400, "rest.body.notReadable"]);
    await refused(r.configs.putMany, dialect, { body: { pollingTime: "00:01:00", pollingOverdueTime: null } }, [400]);
    await refused(r.configs.putMany, dialect, { body: [] }, [400, "rest.body.notReadable"]);
    expect(await get("pollingTime")).toMatchObject({ global: true });
  });

  it("management 12.122 the default set type is the id of an existing type and always set", async () => {
    const key = "default.ds.type";
    const app = await setTypeId("app");
    await noPut(key, { value: "x" }, [400, "configValueInvalid"]);
    await noPut(key, { value: 99_999_999 }, [404, "repo.entityNotFound"]);
    await refused(
      r.configs.delete,
      dialect,
      at(key),
      dialect === "spec" ? [400, "repo.constraintViolation"] : [404, "repo.entityNotFound"],
    );
    await put(key, app);
    expect(await get(key)).toMatchObject({ value: app, global: false });
    expect((await build.set({ type: undefined, modules: [] })).type).toBe("app");
  });

  it("management 8.1 batches to devices that speak DMF are switched on and off", async () => {
    const key = "batch.assignments.enabled";
    await put(key, true);
    expect(await get(key)).toMatchObject({ value: true, global: false });
    await put(key, false);
    await reset(key);
  });

  it("management 12.125 whole numbers and flags must have their type", async () => {
    await put("action.cleanup.actionExpiry", 1000);
    expect((await get("action.cleanup.actionExpiry")).value).toBe(1000);
    for (const value of ["1 000", 1.5, true]) await noPut("action.cleanup.actionExpiry", { value }, [400, "configValueInvalid"]);
    for (const value of ["maybe", 1, {}]) await noPut("action.cleanup.enabled", { value }, [400, "configValueInvalid"]);
  });

  it("management 11 the dialect of hawkBit 1.x reads texts as values; the specification's rejects them as a wrong type", async () => {
    const values = [
      ["action.cleanup.enabled", "true", true],
      ["action.cleanup.enabled", "false", false],
      ["action.cleanup.actionExpiry", "2000", 2_000],
    ] as const;
    for (const [key, value, read] of values) {
      if (dialect === "spec") await noPut(key, { value }, [400, "configValueInvalid"]);
      else {
        await call(r.configs.put, dialect, { ...at(key), body: { value } });
        expect((await get(key)).value).toBe(read);
        await call(r.configs.putMany, dialect, { body: { [key]: value } });
        expect((await get(key)).value).toBe(read);
      }
    }
  });
});
