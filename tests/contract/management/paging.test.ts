import { routeTable as r, type TargetView } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";
import type { Page } from "../support/look.ts";

const prefix = unique("many");
const number = (n: number) => String(n).padStart(3, "0");

describe("paging", () => {
  beforeAll(async () => {
    // Two names alternate, against the order of the ids.
    const bodies = Array.from({ length: 510 }, (_, n) => ({
      controllerId: `${prefix}-${number(n)}`,
      name: `${prefix}-${n % 2 === 0 ? "b" : "a"}`,
    }));
    await builder("spec").targets(...bodies);
  });

  describe.each(dialects)("%s", (dialect) => {
    const list = async (query: CallOptions["query"] = {}) =>
      (await call<Page<TargetView>>(r.targets.list, dialect, { query: { q: `controllerid==${prefix}*`, ...query } })).json;
    const ids = (page: Page<TargetView>) => page.content.map(({ controllerId }) => controllerId.slice(prefix.length + 1));

    it("management 12.3 no page has more than 500 items", async () => {
      for (const limit of [600, 501, 2_147_483_647]) {
        const page = await list({ limit });
        expect([page.size, page.total, page.content.length]).toEqual([500, 510, 500]);
      }
    });

    it("management 12.4 limits below 1 mean 50, offsets below 0 mean 0", async () => {
      const usual = await list();
      expect(ids(usual)).toEqual(Array.from({ length: 50 }, (_, n) => number(n)));
      for (const query of [{ limit: 0 }, { limit: -5 }, { offset: -5 }, { offset: "", limit: "" }])
        expect(await list(query)).toEqual(usual);
    });

    it("management 12.5 a page at and beyond the end of the list is short or empty", async () => {
      const last = await list({ offset: 505 });
      expect([last.size, last.total]).toEqual([5, 510]);
      expect(ids(last)).toEqual([505, 506, 507, 508, 509].map(number));
      expect(await list({ offset: 100_000 })).toEqual({ content: [], size: 0, total: 510 });
    });

    it("management 12.5 pages do not overlap, whatever is sorted by", async () => {
      const seen = new Set<string>();
      for (let offset = 0; offset < 510; offset += 170)
        for (const id of ids(await list({ offset, limit: 170, sort: "name:DESC" }))) seen.add(id);
      expect(seen.size).toBe(510);
    });

    it("management 12.8 several criteria sort one after the other", async () => {
      const page = await list({ sort: "name:ASC,id:DESC", limit: 300 });
      const expected = [...Array.from({ length: 255 }, (_, n) => 509 - 2 * n), ...Array.from({ length: 45 }, (_, n) => 508 - 2 * n)];
      expect(ids(page)).toEqual(expected.map(number));
    });

    it("management 12.7 field and direction are read in any case and with blanks around them", async () => {
      const usual = await list({ sort: "name:DESC,controllerid:ASC" });
      for (const sort of ["NAME:desc,ControllerId:asc", " name : DESC , controllerId : ASC "]) expect(await list({ sort })).toEqual(usual);
    });

    it.each([
      ["12.6", "name", "sortParamSyntax"],
      ["12.6", "name:ASC:x", "sortParamSyntax"],
      ["12.6", ":ASC", "sortParamSyntax"],
      ["12.6", "name:ASC,", "sortParamSyntax"],
      ["12.7", "foo:ASC", "invalidField"],
      ["12.7", "assignedds.name:ASC", "invalidField"],
      ["12.7", "__proto__:ASC", "invalidField"],
      ["12.7", "name';drop table targets;--:ASC", "invalidField"],
      ["12.7", "name:UP", "invalidDirection"],
    ])("management %s sort=%s is 400 %s", async (_case, sort, code) => {
      await refused(r.targets.list, dialect, { query: { sort } }, [400, `rest.param.${code}`]);
    });

    it.each([{ limit: "abc" }, { offset: "abc" }, { limit: "1.5" }, { offset: "99999999999" }])(
      "management 1.1 %j is 400",
      async (query) => {
        await refused(r.targets.list, dialect, { query }, [400, "rest.body.notReadable"]);
      },
    );
  });
});
