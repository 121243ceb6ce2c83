import { routeTable as r, type TargetView } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { ask, call, dialects, refused } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { credentials, send } from "../support/http.ts";
import type { Page } from "../support/look.ts";
import { eventually } from "../support/wait.ts";

const p = unique("q");
const macro = (name: string): string => ["$", "{", name, "}"].join("");
const set = unique("set");

/** The six targets differ in name, description, attributes, and in what has been done with them. */
const fleet = [
  { id: "1", name: "xaby", hw: "1", description: "first one" },
  { id: "2", name: "axb", hw: "2" },
  { id: "3", name: "a_b", hw: undefined, description: "100% sure" },
  { id: "4", name: "plain*star", hw: "12" },
  { id: "5", name: 'O\'Neill "x" (y)', hw: "" },
  { id: "6", name: "ÄÖ", hw: "rev, 3;a" },
];

describe("the query language", () => {
  beforeAll(async () => {
    await build.targets(...fleet.map(({ id, name, description }) => ({ controllerId: `${p}-${id}`, name, description })));
    for (const { id, hw } of fleet) if (hw !== undefined) await device(`${p}-${id}`).configData({ data: { hw, "a.b": id } });
    const { id: setId } = await build.set({ name: set, version: "7" });
    const actions = await Promise.all(["1", "2", "3"].map((id) => build.assign(setId, `${p}-${id}`)));
    await device(`${p}-1`).feedback(actions[0] as number, report("closed", "success"));
    await device(`${p}-2`).feedback(actions[1] as number, report("closed", "failure"));
    await device(`${p}-4`).poll();
    await eventually(async () => (await matching("lastcontrollerrequestat=gt=0")) === "124");
  });

  /** Returns the numbers of the targets of this file that match. */
  const matching = async (q: string, dialect: "spec" | "rest" = "spec"): Promise<string> => {
    const query = { q: `controllerid==${p}*;(${q})`, sort: "id:ASC" };
    const { content } = (await call<Page<TargetView>>(r.targets.list, dialect, { query })).json;
    return content.map(({ controllerId }) => controllerId.slice(p.length + 1)).join("");
  };

  it.each([
    ["12.109 any case, anywhere", "name==*AB*", "1"],
    ["12.109 an underscore is itself", "name==a_b", "3"],
    ["12.109 a star alone", "name==*", "123456"],
    ["12.109 an escaped star", "name=='plain\\\\*s*'", "4"],
    ["12.109 a percent sign is itself", "description=='*100%*'", "3"],
    ["6.2 umlauts in any case", "name==äö", "6"],
    ["6.1 quotes of either kind", `name=='O\\'Neill*'`, "5"],
    ["6.1 quotes of either kind", `name=="O'Neill \\"x\\" (y)"`, "5"],
    ["6.2 not equal", "name!=*b*", "456"],
    ["12.111 an attribute that differs is there", "attribute.hw!=1", "2456"],
    ["12.111 an attribute that is there", "attribute.hw==*", "12456"],
    ["12.111 a list of values", "attribute.hw=in=(1,2)", "12"],
    ["12.111 not in a list", "attribute.hw=out=(1,2)", "456"],
    ["12.111 a key with a dot", "attribute.a.b==4", "4"],
    ["12.111 reserved characters in quotes", "attribute.hw=='rev, 3;a'", "6"],
    ["12.112 another set, or none", `assignedds.name!=${set}`, "2456"],
    ["12.112 this set", `assignedds.name==${set.toUpperCase()};assignedds.version==7`, "13"],
    ["12.112 installed", `installedds.name==${set}`, "1"],
    ["12.113 states", "updatestatus=in=(pending,error)", "23"],
    ["12.113 states in any case", "updatestatus==IN_SYNC", "1"],
    ["12.113 not these", "updatestatus=out=(pending,in_sync,error,registered)", "56"],
    ["12.114 either of two, and not one", `(name==xaby,name==axb);controllerid!=${p}-2`, "1"],
    ["12.114 words", "name==xaby OR name==axb and updatestatus==error", "12"],
    ["12.114 ; binds stronger than ,", "name==xaby,name==axb;updatestatus==pending", "1"],
    ["12.114 words in any case", "name==xaby Or name==axb", "12"],
    ["12.115 no description", 'description==""', "2456"],
    ["12.115 some description", 'description!=""', "13"],
    ["12.117 later than the beginning", "createdat=gt=0", "123456"],
    ["12.117 all operators on a time", "createdat>0;createdat>=1;lastmodifiedat=ge=1", "123456"],
    ["12.117 before the beginning", "createdat=lt=1,createdat<=1", ""],
    ["12.117 now as a macro", `createdat=le=${macro("NOW_TS")}`, "123456"],
    ["12.117 an id is the controllerId", `id==${p}-3`, "3"],
    ["6.1 selectors in any case", `ControllerId==${p.toUpperCase()}-3`, "3"],
    ["6.2 a number is compared as text", "name==1e5,attribute.hw==12", "4"],
  ])("management %s: %s", async (_case, q, expected) => {
    for (const dialect of dialects) expect(await matching(q, dialect)).toBe(expected);
  });

  it("management 12.116 overdue targets are those whose poll status says so", async () => {
    for (const dialect of dialects) {
      const { content } = (await call<Page<TargetView>>(r.targets.list, dialect, { query: { q: `controllerid==${p}*` } })).json;
      const overdue = content.filter(({ pollStatus }) => pollStatus?.overdue).map(({ controllerId }) => controllerId.slice(p.length + 1));
      expect(await matching(`lastcontrollerrequestat=le=${macro("OVERDUE_TS")}`, dialect)).toBe(overdue.join(""));
      expect(await matching(`lastcontrollerrequestat=gt=${macro("overdue_ts")}`, dialect)).toBe("124");
    }
  });

  it.each([
    ["12.111", "attribute==1", "rsqlInvalidField"],
    ["12.111", "attribute", "rsqlParamSyntax"],
    ["12.112", "assignedds==x", "rsqlInvalidField"],
    ["12.112", "assignedds.foo==x", "rsqlInvalidField"],
    ["12.113", "updatestatus==bogus", "rsqlInvalidField"],
    ["12.115", "name=li=a", "rsqlParamSyntax"],
    ["6.1", "foo==1", "rsqlInvalidField"],
    ["6.1", "name.x==1", "rsqlInvalidField"],
    ["6.1", "__proto__==1", "rsqlInvalidField"],
    ["6.1", "name==", "rsqlParamSyntax"],
    ["6.1", "==1", "rsqlParamSyntax"],
    ["6.1", "name=1", "rsqlParamSyntax"],
    ["6.1", "(name==1", "rsqlParamSyntax"],
    ["6.1", "name==1)", "rsqlParamSyntax"],
    ["6.1", "name==(1,2)", "rsqlParamSyntax"],
    ["6.1", "name=in=()", "rsqlParamSyntax"],
    ["6.1", "name=='x", "rsqlParamSyntax"],
    ["6.1", "name==1;", "rsqlParamSyntax"],
    ["6.1", "name==1 name==2", "rsqlParamSyntax"],
    ["1.3", "", "rsqlParamSyntax"],
    ["1.3", "   ", "rsqlParamSyntax"],
  ])("management %s: q=%s is 400 %s", async (_case, q, code) => {
    for (const dialect of dialects) await refused(r.targets.list, dialect, { query: { q } }, [400, `rest.param.${code}`]);
  });

  it.each(["(".repeat(5_000), `name==${"x,".repeat(5_000)}`, "name==1;".repeat(2_000), `name=in=(${"1,".repeat(5_000)}`])(
    "bad input: a very long query is 400 too (%#)",
    async (q) => {
      const { status } = await ask(r.targets.list, "spec", { query: { q } });
      // The query is too long for the head of a request.
      expect([400, 414, 431]).toContain(status);
    },
  );

  it.each(dialects)("management 12.113 a flag is true or false, %s", async (dialect) => {
    await refused(r.distributionSets.list, dialect, { query: { q: "valid==maybe" } }, [400, "rest.param.rsqlParamSyntax"]);
    const count = async (q: string) => (await call<Page<object>>(r.distributionSets.list, dialect, { query: { q } })).json.total;
    expect(await count(`name==${set};valid==true;complete==TRUE;type==os`)).toBe(1);
    expect(await count(`name==${set};valid==false`)).toBe(0);
  });

  it.each(["'; drop table controller.targets; --", "x' or '1'='1", "\\", "%", "_", "$1", macro("jndi:ldap://x"), "\u202e", "\u0000"])(
    "bad input: the value %s is only a value",
    async (value) => {
      const quoted = `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
      const query = { q: `name==${quoted},description==${quoted},attribute.hw==${quoted}` };
      const answer = await ask<Page<TargetView>>(r.targets.list, "spec", { query });
      // The one character that cannot be stored cannot be searched either.
      expect(answer.status).toBe(value === "\u0000" ? 400 : 200);
      if (answer.status === 200) expect(answer.json.total).toBe(0);
      expect(await matching("name==*")).toBe("123456");
    },
  );

  it.each(["q=%ED%A0%80", "q=%FF", "q=%", "q=%zz", "q=name==a&q=name==b", "q[]=name==a", "q[x]=1"])(
    "bad input: %s is 200 or 400",
    async (search) => {
      const { status } = await send(`/api/mgmt/v1/targets?${search}`, { headers: { authorization: credentials.admin } });
      expect([200, 400]).toContain(status);
    },
  );
});
