import {
  type DistributionSetTypeView,
  routeTable as r,
  type SoftwareModuleTypeView,
  type TargetTypeView,
  type TypeUpdate,
} from "@harrier/contracts";
import { builder, unique } from "./build.ts";
import { call, type Dialect } from "./call.ts";
import type { ValidRequest } from "./walk.ts";

const refer = (ids: readonly number[]) => ids.map((id) => ({ id }));

/** Builds types of modules, sets and targets, in one dialect. */
export function typeBuilder(dialect: Dialect) {
  const moduleType = async (body: object = {}): Promise<SoftwareModuleTypeView> => {
    const whole = { key: unique("mt"), name: unique("module type"), ...body };
    return (await call<SoftwareModuleTypeView[]>(r.softwareModuleTypes.create, dialect, { body: [whole] }))
      .json[0] as SoftwareModuleTypeView;
  };
  const setType = async (mandatory: number[] = [], optional: number[] = [], body: object = {}): Promise<DistributionSetTypeView> => {
    const lists = { mandatorymodules: refer(mandatory), optionalmodules: refer(optional) };
    const whole = { key: unique("st"), name: unique("set type"), ...lists, ...body };
    return (await call<DistributionSetTypeView[]>(r.distributionSetTypes.create, dialect, { body: [whole] }))
      .json[0] as DistributionSetTypeView;
  };
  const targetType = async (compatible: number[] = [], body: object = {}): Promise<TargetTypeView> => {
    const whole = { name: unique("tt"), compatibledistributionsettypes: refer(compatible), ...body };
    return (await call<TargetTypeView[]>(r.targetTypes.create, dialect, { body: [whole] })).json[0] as TargetTypeView;
  };
  return { moduleType, setType, targetType };
}

/** Makes a valid request for every route of types. */
export function typeRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { moduleType, setType, targetType } = typeBuilder(dialect);
  const { target } = builder(dialect);
  const evidence = [{ attribute: "sw_version", equals: `\${set.version}`, match: "prefix" }];
  const update: TypeUpdate = { description: "e", colour: "blue" };
  const listed = { query: { sort: "id:ASC", limit: 5, q: "id=gt=0" } };
  const described = () => ({ name: unique("type"), description: "d", colour: "red" });
  const oneModuleType = async () => ({ params: { softwareModuleTypeId: (await moduleType()).id } });
  const withList = async (which: "mandatory" | "optional") => {
    const { id } = await moduleType();
    const made = which === "mandatory" ? await setType([id]) : await setType([], [id]);
    return { params: { distributionSetTypeId: made.id, softwareModuleTypeId: id } };
  };
  const oneSetType = async () => ({ params: { distributionSetTypeId: (await setType()).id } });
  const oneTargetType = async () => ({ params: { targetTypeId: (await targetType([(await setType()).id])).id } });
  const lists = (["Mandatory", "Optional"] as const).flatMap((kind): [string, ValidRequest][] => {
    const which = kind === "Mandatory" ? "mandatory" : "optional";
    return [
      [
        `distributionSetTypes.list${kind}`,
        async () => ({ params: { distributionSetTypeId: (await withList(which)).params.distributionSetTypeId } }),
      ],
      [`distributionSetTypes.add${kind}`, async () => ({ ...(await oneSetType()), body: { id: (await moduleType()).id } })],
      [`distributionSetTypes.get${kind}`, () => withList(which)],
      [`distributionSetTypes.remove${kind}`, () => withList(which)],
    ];
  });
  return {
    ...Object.fromEntries(lists),
    "softwareModuleTypes.list": () => listed,
    "softwareModuleTypes.create": () => ({ body: [{ key: unique(), ...described(), maxAssignments: 2 }] }),
    "softwareModuleTypes.get": oneModuleType,
    "softwareModuleTypes.update": async () => ({ ...(await oneModuleType()), body: update }),
    "softwareModuleTypes.delete": oneModuleType,
    "distributionSetTypes.list": () => listed,
    "distributionSetTypes.create": async () => {
      const [a, b] = [await moduleType(), await moduleType()];
      return { body: [{ key: unique(), ...described(), mandatorymodules: [{ id: a.id }], optionalmodules: [{ id: b.id }] }] };
    },
    "distributionSetTypes.get": oneSetType,
    "distributionSetTypes.update": async () => ({ ...(await oneSetType()), body: update }),
    "distributionSetTypes.delete": oneSetType,
    "targetTypes.list": async () => {
      await targetType();
      return listed;
    },
    "targetTypes.create": async () => ({
      body: [{ key: unique(), ...described(), compatibledistributionsettypes: [{ id: (await setType()).id }] }],
    }),
    "targetTypes.get": oneTargetType,
    "targetTypes.update": async () => ({ ...(await oneTargetType()), body: { name: unique(), evidence, ...update } }),
    "targetTypes.delete": oneTargetType,
    "targetTypes.listCompatible": oneTargetType,
    "targetTypes.addCompatible": async () => ({ ...(await oneTargetType()), body: [{ id: (await setType()).id }] }),
    "targetTypes.removeCompatible": async () => {
      const { id } = await setType();
      return { params: { targetTypeId: (await targetType([id])).id, distributionSetTypeId: id } };
    },
    "targets.setType": async () => ({ params: { targetId: (await target()).controllerId }, body: { id: (await targetType()).id } }),
    "targets.removeType": async () => ({
      params: { targetId: (await target({ targetType: (await targetType()).id })).controllerId },
    }),
  };
}
