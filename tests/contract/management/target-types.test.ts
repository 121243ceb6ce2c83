import { type DistributionSetTypeView, routeTable as r, type TargetTypeView } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { builder, unique } from "../support/build.ts";
import { call, dialects, refused } from "../support/call.ts";
import { type Page, viewer } from "../support/look.ts";
import { typeBuilder } from "../support/types.ts";

describe.each(dialects)("target types, %s", (dialect) => {
  const build = builder(dialect);
  const view = viewer(dialect);
  const types = typeBuilder(dialect);
  const { targetTypes } = r;
  const bodiless = dialect === "spec" ? 200 : 204;
  const at = (targetTypeId: number) => ({ params: { targetTypeId } });
  const get = async (id: number) => (await call<TargetTypeView>(targetTypes.get, dialect, at(id))).json;
  const compatible = async (id: number) =>
    (await call<DistributionSetTypeView[]>(targetTypes.listCompatible, dialect, at(id))).json.map((type) => type.id);
  const noCreate = (body: object, expected: readonly [number, string]) => refused(targetTypes.create, dialect, { body: [body] }, expected);

  it("management 12.81 key and name default to each other; one of them is required", async () => {
    const [name, key] = [unique(), unique()];
    expect(await types.targetType([], { name })).toMatchObject({ key: name, name, deleted: false });
    expect(await types.targetType([], { name: undefined, key })).toMatchObject({ key, name: key });
    expect(await types.targetType([], { name: `${name}2`, key: `${key}2` })).toMatchObject({ key: `${key}2`, name: `${name}2` });
    await noCreate({ description: "d" }, [400, "target.type.keyOrNameRequired"]);
    await noCreate({ name: null, key: null }, [400, "target.type.keyOrNameRequired"]);
    await noCreate({ name }, [409, "repo.entityAlreadyExists"]);
    await noCreate({ name: unique(), key }, [409, "repo.entityAlreadyExists"]);
    await noCreate({ name: unique(), colour: "c".repeat(17) }, [400, "repo.constraintViolation"]);
    await noCreate({ name: unique(), compatibledistributionsettypes: [{ id: 2_000_000_000 }] }, [404, "repo.entityNotFound"]);
  });

  it("management 4.7 a type can be changed except for its key, is found by its fields, and is gone when deleted", async () => {
    const type = await types.targetType([], { description: "d" });
    const body = { name: unique(), key: "x", colour: "red" };
    const { json } = await call<TargetTypeView>(targetTypes.update, dialect, { ...at(type.id), body });
    expect(json).toMatchObject({ key: type.key, name: body.name, description: "d", colour: "red" });
    expect(json).toEqual(await get(type.id));
    expect(json._links.compatibledistributionsettypes?.href).toMatch(new RegExp(`/targettypes/${type.id}/compatibledistributionsettypes$`));
    const listed = await call<Page<TargetTypeView>>(targetTypes.list, dialect, { query: { q: `key==${type.key}` } });
    expect(listed.json.content.map(({ id, _links }) => [id, Object.keys(_links)])).toEqual([[type.id, ["self"]]]);
    const other = await types.targetType();
    await refused(targetTypes.update, dialect, { ...at(other.id), body: { name: body.name } }, [409, "repo.entityAlreadyExists"]);
    expect((await call(targetTypes.delete, dialect, at(type.id))).status).toBe(bodiless);
    for (const route of [targetTypes.get, targetTypes.delete, targetTypes.listCompatible]) {
      await refused(route, dialect, at(type.id), [404, "repo.entityNotFound"]);
    }
    await refused(targetTypes.update, dialect, { ...at(type.id), body: {} }, [404, "repo.entityNotFound"]);
  });

  it("management 12.81, 12.73 the type of a target is set, shown and removed; a type in use cannot be deleted", async () => {
    const [a, b] = [await types.targetType(), await types.targetType()];
    const { controllerId } = await build.target({ targetType: a.id });
    const one = { params: { targetId: controllerId } };
    expect(await view.target(controllerId)).toMatchObject({ targetType: a.id, targetTypeName: a.name });
    expect((await view.target(controllerId))._links.targetType?.href).toMatch(new RegExp(`/targettypes/${a.id}$`));
    await refused(targetTypes.delete, dialect, at(a.id), [409, "target.type.used"]);

    expect((await call(r.targets.setType, dialect, { ...one, body: { id: b.id } })).status).toBe(bodiless);
    expect(await view.target(controllerId)).toMatchObject({ targetType: b.id });
    await call(targetTypes.delete, dialect, at(a.id));
    const found = await call<Page<unknown>>(r.targets.list, dialect, { query: { q: `targettype.key==${b.key}` } });
    expect(found.json.total).toBe(1);

    expect((await call(r.targets.removeType, dialect, one)).status).toBe(bodiless);
    expect((await call(r.targets.removeType, dialect, one)).status).toBe(bodiless);
    const bare = await view.target(controllerId);
    expect(bare).not.toHaveProperty("targetType");
    expect(bare._links).not.toHaveProperty("targetType");

    await call(r.targets.update, dialect, { ...one, body: { targetType: b.id } });
    expect(await view.target(controllerId)).toMatchObject({ targetType: b.id });
    await call(r.targets.update, dialect, { ...one, body: { targetType: -1 } });
    expect(await view.target(controllerId)).not.toHaveProperty("targetType");

    await refused(r.targets.setType, dialect, { ...one, body: { id: 2_000_000_000 } }, [404, "repo.entityNotFound"]);
    for (const body of [{ id: null }, {}]) await refused(r.targets.setType, dialect, { ...one, body }, [400]);
    const nobody = { params: { targetId: unique() } };
    await refused(r.targets.setType, dialect, { ...nobody, body: { id: b.id } }, [404, "repo.entityNotFound"]);
    await refused(r.targets.removeType, dialect, nobody, [404, "repo.entityNotFound"]);
  });

  it("management 12.82 compatible set types are listed, added and removed, and never read one by one", async () => {
    const [a, b] = [await types.setType(), await types.setType()];
    const { id } = await types.targetType([a.id]);
    expect((await call(targetTypes.addCompatible, dialect, { ...at(id), body: [{ id: a.id }, { id: b.id }] })).status).toBe(bodiless);
    expect(await compatible(id)).toEqual([a.id, b.id]);
    const c = await types.setType();
    const body = [{ id: c.id }, { id: 2_000_000_000 }];
    await refused(targetTypes.addCompatible, dialect, { ...at(id), body }, [404, "repo.entityNotFound"]);
    expect(await compatible(id)).toEqual([a.id, b.id]);
    const one = { params: { targetTypeId: id, distributionSetTypeId: a.id } };
    for (const method of ["GET", "PUT", "POST"])
      await refused(targetTypes.removeCompatible, dialect, { ...one, method, body: method === "GET" ? undefined : {} }, [405]);
    expect((await call(targetTypes.removeCompatible, dialect, one)).status).toBe(bodiless);
    expect((await call(targetTypes.removeCompatible, dialect, one)).status).toBe(bodiless);
    expect(await compatible(id)).toEqual([b.id]);
    // A deleted set type is not compatible with anything.
    await call(r.distributionSetTypes.delete, dialect, { params: { distributionSetTypeId: b.id } });
    expect(await compatible(id)).toEqual([]);
  });

  it("management 12.93 a set goes only to targets without a type or whose type lists the set's type", async () => {
    const moduleType = await types.moduleType();
    const [fits, foreign] = [await types.setType([moduleType.id]), await types.setType()];
    const { id: moduleId } = await build.module({ type: moduleType.key });
    const set = await build.set({ type: fits.key, modules: [{ id: moduleId }] });
    const [listing, other, empty] = [await types.targetType([fits.id]), await types.targetType([foreign.id]), await types.targetType()];
    const [yes, no, nothing, plain] = await build.targets(
      { targetType: listing.id },
      { targetType: other.id },
      { targetType: empty.id },
      {},
    );
    const [fit, misfit, closed, bare] = [yes, no, nothing, plain].map((target) => target?.controllerId as string) as [
      string,
      string,
      string,
      string,
    ];
    for (const refusing of [misfit, closed]) {
      const body = [{ id: fit }, { id: refusing }, { id: bare }];
      const options = { params: { distributionSetId: set.id }, body };
      await refused(r.distributionSets.assignTargets, dialect, options, [400, "target.type.incompatible"]);
      const single = { params: { targetId: refusing }, body: [{ id: set.id }] };
      await refused(r.targets.assign, dialect, single, [400, "target.type.incompatible"]);
    }
    for (const controllerId of [fit, misfit, closed, bare]) expect((await view.actions(controllerId)).total).toBe(0);
    expect(await build.assignAll(set.id, [{ id: fit }, { id: bare }])).toMatchObject({ assigned: 2 });
    await call(targetTypes.addCompatible, dialect, { ...at(empty.id), body: [{ id: fits.id }] });
    expect(await build.assignAll(set.id, [{ id: closed }])).toMatchObject({ assigned: 1 });
  });
});
