import { routeTable as r, type TargetSuggestions, type TargetTypeView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { unique } from "../support/build.ts";
import { type CallOptions, call, dialects, refused } from "../support/call.ts";

describe.each(dialects)("suggestions for target queries, %s", (dialect) => {
  const { user } = accessBuilder(dialect);
  const ask = async (query: { field: string; prefix?: string; limit?: number }, { auth }: Pick<CallOptions, "auth"> = {}) =>
    (await call<TargetSuggestions>(r.targets.suggest, dialect, { query, ...(auth && { auth }) })).json;

  it("console M13 suggests ids and values of metadata that begin with a text", async () => {
    const [start, key] = [unique("Sug%"), unique("key")];
    const ids = ["-a", "-B", "-c"].map((end) => `${start}${end}`);
    await call(r.targets.create, dialect, { body: ids.map((controllerId) => ({ controllerId })) });
    expect(await ask({ field: "ControllerId", prefix: start.toUpperCase() })).toEqual({ values: ids, more: false });
    expect(await ask({ field: "controllerid", prefix: start, limit: 2 })).toEqual({ values: ids.slice(0, 2), more: true });
    for (const [place, value] of ["Kiel", "Köln", "kiel"].entries()) {
      const options = { params: { targetId: ids[place] as string }, body: [{ key, value }] };
      await call(r.targets.createMetadata, dialect, options);
    }
    expect((await ask({ field: `metadata.${key.toUpperCase()}` })).values.map((value) => value.toLowerCase())).toEqual(["kiel", "köln"]);
    expect((await ask({ field: "metadata", prefix: key })).values).toEqual([key]);
  });

  it("console M13 shows a restricted user only what targets in reach have", async () => {
    const types = await call<TargetTypeView[]>(r.targetTypes.create, dialect, { body: [{ name: unique() }, { name: unique() }] });
    const [mine, other] = types.json.map(({ id }) => id) as [number, number];
    const start = unique("scoped");
    await call(r.targets.create, dialect, {
      body: [mine, other].map((targetType) => ({ controllerId: `${start}-${targetType}`, targetType })),
    });
    const caller = await user([{ permission: "READ_TARGET", targetTypeScopes: [mine] }]);
    expect(await ask({ field: "controllerid", prefix: start }, caller)).toEqual({ values: [`${start}-${mine}`], more: false });
  });

  it("console M13 refuses fields that it does not know", async () => {
    for (const query of [
      {},
      { field: "" },
      { field: "updatestatus" },
      { field: "attribute." },
      { field: "name", prefix: "x".repeat(257) },
    ]) {
      await refused(r.targets.suggest, dialect, { query }, [400, "repo.constraintViolation"]);
    }
  });
});
