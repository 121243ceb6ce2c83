import { type Route, routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";

// These tests ask for every field of every list (management 6.4, 7; rollouts 1, 6), and for names that are no field.

const numbers = ["==1", "!=1", "=lt=1", "=le=1", "=gt=1", "=ge=1", "=in=(1,2)", "=out=(1,2)", "=is=null", "=not=null", "==*"];
const texts = [...numbers.slice(0, -1), "==a*b", "=='it\\'s'", '==""', '!=""', "=in=('',x)"];
const flags = ["==true", "!=FALSE", "=in=(true,false)", "=out=(true)"];
const literals = (...known: string[]) => known.flatMap((literal) => [`==${literal}`, `!=${literal.toUpperCase()}`, `=in=(${literal})`]);

const audit = { createdat: numbers, lastmodifiedat: numbers, createdby: texts, lastmodifiedby: texts };
const named = { id: numbers, name: texts, description: texts, ...audit };
const ofSet = (name: string) => ({ [`${name}.id`]: numbers, [`${name}.name`]: texts, [`${name}.version`]: texts, [`${name}.type`]: texts });
const type = { type: texts, "type.key": texts, "type.name": texts, "type.id": numbers };
const namedSort = ["id", "name", "description", "createdat", "createdby", "lastmodifiedat", "lastmodifiedby"];

interface List {
  route: Route;
  fields: Record<string, string[]>;
  sort: string[];
  /** Dotted names and fields of other entities belong to none of these. */
  not: string[];
}

const lists: Record<string, List> = {
  targets: {
    route: r.targets.list,
    fields: {
      ...named,
      id: texts,
      controllerid: texts,
      group: texts,
      ipaddress: texts,
      updatestatus: literals("unknown", "in_sync", "pending", "error", "registered"),
      lastcontrollerrequestat: numbers,
      "attribute.some.key": texts,
      "metadata.some.key": texts,
      ...ofSet("assignedds"),
      ...ofSet("installedds"),
      targettype: texts,
      "targettype.key": texts,
      "targettype.name": texts,
      "targettype.id": numbers,
      ...type,
      autoconfirm: flags,
    },
    sort: [...namedSort, "controllerid", "group", "updatestatus", "ipaddress", "lastcontrollerrequestat"],
    not: ["version", "attribute", "metadata", "assignedds", "name.first", "updatestatus.x", "targettype.colour"],
  },
  "auto-assignments": {
    route: r.autoAssignments.list,
    fields: {
      id: numbers,
      name: texts,
      ...audit,
      status: literals("waiting_for_approval", "approval_denied", "ready", "paused", "running"),
      actiontype: literals("soft", "forced", "downloadonly"),
      approvaldecidedby: texts,
      ...ofSet("distributionset"),
    },
    sort: [...namedSort.filter((name) => name !== "description"), "status", "actiontype", "approvaldecidedby"],
    not: ["description", "query", "distributionset", "status.x"],
  },
  sets: {
    route: r.distributionSets.list,
    fields: { ...named, version: texts, ...type, complete: flags, valid: flags, "module.id": numbers, "module.name": texts },
    sort: [...namedSort, "version", "complete", "valid", "type"],
    not: ["module", "module.vendor", "key", "type.colour"],
  },
  modules: {
    route: r.softwareModules.list,
    fields: { ...named, version: texts, ...type, "metadata.some.key": texts },
    sort: [...namedSort, "version", "type"],
    not: ["metadata", "vendor", "complete"],
  },
  "module types": {
    route: r.softwareModuleTypes.list,
    fields: { ...named, key: texts, maxassignments: numbers },
    sort: [...namedSort, "key", "maxassignments"],
    not: ["version", "key.x"],
  },
  "set types": {
    route: r.distributionSetTypes.list,
    fields: { ...named, key: texts },
    sort: [...namedSort, "key"],
    not: ["maxassignments", "mandatorymodules"],
  },
  actions: {
    route: r.actions.list,
    fields: {
      id: numbers,
      active: flags,
      detailstatus: literals("finished", "error", "running", "canceled", "wait_for_confirmation"),
      laststatuscode: numbers,
      proof: literals("proving", "proven", "unproven", "refuted", "void"),
      stage: literals("notfetched", "observing", "retrywait"),
      silent: flags,
      attempt: numbers,
      weight: numbers,
      ...audit,
      "target.id": texts,
      "target.controllerid": texts,
      "target.name": texts,
      "target.updatestatus": literals("in_sync"),
      "target.address": texts,
      "target.ipaddress": texts,
      "target.lastcontrollerrequestat": numbers,
      "target.targettype.key": texts,
      ...ofSet("distributionset"),
      "rollout.id": numbers,
      "rollout.name": texts,
      "rolloutgroup.id": numbers,
      "rolloutgroup.name": texts,
      externalref: texts,
      status: literals("finished"),
    },
    sort: ["id", "status", "detailstatus", "weight", "active", "laststatuscode", "createdat", "lastmodifiedat"],
    not: ["target", "distributionset", "name", "target.description", "target.targettype", "target.targettype.colour"],
  },
  rollouts: {
    route: r.rollouts.list,
    fields: { ...named, status: literals("ready", "running", "waiting_for_approval"), ...ofSet("distributionset") },
    sort: [...namedSort, "status"],
    not: ["distributionset", "version", "status.x"],
  },
};

describe.each(dialects)("%s", (dialect) => {
  describe.each(Object.entries(lists))("management 6.4 %s", (_name, { route, fields, sort, not }) => {
    it.each(Object.entries(fields))("%s with every operator that it supports", async (selector, conditions) => {
      // There is one request per field with all conditions of it; each may be true or false, and none may be rejected.
      const q = conditions.map((condition) => selector + condition).join(",");
      const { size, content } = (await call<Page<object>>(route, dialect, { query: { q, limit: 1 } })).json;
      expect(size).toBe(content.length);
    });

    it("management 7 every sort field works in both directions", async () => {
      for (const direction of ["ASC", "desc"])
        await call(route, dialect, { query: { sort: sort.map((name) => `${name}:${direction}`).join(",") } });
    });

    it.each(["nothing", "constructor", ...not])("%s is no field of it", async (selector) => {
      await refused(route, dialect, { query: { q: `${selector}==1` } }, [400, "rest.param.rsqlInvalidField"]);
    });

    it("management 7 an unknown sort field is rejected", async () => {
      for (const name of ["nothing", "constructor", "distributionset.name", "id;drop table targets", "1", "id)--"])
        await refused(route, dialect, { query: { sort: `${name}:ASC` } }, [400, "rest.param.invalidField"]);
      await refused(route, dialect, { query: { sort: "name\u0000:ASC" } }, [400]);
    });

    it("injection: a value of any field stays a value", async () => {
      const value = `"') or 1=1; drop table targets; -- $1 %"`;
      const textual = Object.entries(fields).filter(([, conditions]) => conditions === texts);
      const q = textual.map(([selector]) => `${selector}==${value}`).join(",");
      expect((await call<Page<object>>(route, dialect, { query: { q } })).json.total).toBe(0);
      const others = Object.entries(fields).filter(([, conditions]) => conditions !== texts);
      for (const [selector] of others) {
        const answer = await refused(route, dialect, { query: { q: `${selector}==${value}` } }, [400]);
        expect(answer.json.errorCode).toMatch(/rsqlParamSyntax|rsqlInvalidField/);
      }
    });
  });

  it.each([
    ["more comparisons than a query may have", "id==1,".repeat(200).concat("id==1"), "more than 200 comparisons"],
    ["more values than a query may have", `id=in=(${"1,".repeat(1_000)}1)`, "more than 1000 values"],
    ["deep nesting", `${"(".repeat(101)}id==1${")".repeat(101)}`, "position 101"],
    ["a control character", "name=='a\u0007'", "position 9"],
    ["a control character outside of values", "na\u001bme==a", "position 3"],
  ])("bad input: %s is 400 and names the place", async (_what, q, message) => {
    const { json } = await refused(r.targets.list, dialect, { query: { q } }, [400, "rest.param.rsqlParamSyntax"]);
    expect(json.message).toContain(message);
  });

  it("the maximum number of conditions is answered, joined in either way", async () => {
    for (const separator of [";", ","]) {
      const q = Array.from({ length: 200 }, (_, n) => `attribute.k${n}==v`).join(separator);
      expect((await call<Page<object>>(r.targets.list, dialect, { query: { q } })).json.total).toBe(0);
    }
  });
});
