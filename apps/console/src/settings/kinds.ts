import { type Asked, ask, askSeen, change, r, type Tagged } from "../api/client.ts";
import { kinds as t } from "../text/en.ts";

/** A type or a tag: what all five kinds of them have. */
export interface Kind {
  readonly id: number;
  readonly name: string;
  readonly key?: string;
  readonly description?: string | undefined;
  readonly colour?: string | undefined;
  readonly deleted?: boolean;
  readonly lastModifiedAt?: number | undefined;
  readonly maxAssignments?: number;
  readonly minArtifacts?: number;
}

interface PageOf<Row> {
  readonly content: readonly Row[];
  readonly total?: number | undefined;
}

interface Query {
  readonly q?: string | undefined;
  readonly sort?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

type Body = Readonly<Record<string, unknown>>;
type Guarded = { readonly permission: readonly string[] };

/** A list of other types that a type has. */
export interface Links {
  /** The member of the creation. */
  readonly member: string;
  readonly label: string;
  readonly offered: Asked<PageOf<Kind>>;
  readonly current: (id: number) => Asked<readonly Kind[]>;
  readonly add: (id: number, other: number) => Promise<unknown>;
  readonly remove: (id: number, other: number) => Promise<unknown>;
}

/** What one kind can do. */
export interface KindOf {
  readonly feature: string;
  readonly list: (query: Query) => Asked<PageOf<Kind>>;
  readonly create: (body: Body) => Promise<unknown>;
  readonly get: (id: number) => Asked<Tagged<Kind>>;
  readonly update: (id: number, body: Body, ifMatch: string | undefined) => Promise<unknown>;
  readonly remove: (id: number) => Promise<unknown>;
  readonly rows: { readonly create: Guarded; readonly update: Guarded; readonly delete: Guarded };
  readonly isType: boolean;
  /** The name may be changed. */
  readonly renames: boolean;
  /** The numbers of module types. */
  readonly numbers?: boolean;
  readonly links: readonly Links[];
}

/** So many types are offered; a tenant has a handful. */
const offered = { limit: 500, sort: "name:ASC" };
const setTypes = () => ask(r.distributionSetTypes.list, { query: offered });
const moduleTypes = () => ask(r.softwareModuleTypes.list, { query: offered });

const targetTypes: KindOf = {
  feature: "targetTypes",
  isType: true,
  renames: true,
  list: (query) => ask(r.targetTypes.list, { query }),
  create: (body) => change(r.targetTypes.create, { body: [body] }),
  get: (targetTypeId) => askSeen(r.targetTypes.get, { params: { targetTypeId } }),
  update: (targetTypeId, body, ifMatch) => change(r.targetTypes.update, { params: { targetTypeId }, body, ifMatch }),
  remove: (targetTypeId) => change(r.targetTypes.delete, { params: { targetTypeId } }),
  rows: { create: r.targetTypes.create, update: r.targetTypes.update, delete: r.targetTypes.delete },
  links: [
    {
      member: "compatibledistributionsettypes",
      label: t.compatible,
      offered: setTypes(),
      current: (targetTypeId) => ask(r.targetTypes.listCompatible, { params: { targetTypeId } }),
      add: (targetTypeId, id) => change(r.targetTypes.addCompatible, { params: { targetTypeId }, body: [{ id }] }),
      remove: (targetTypeId, distributionSetTypeId) =>
        change(r.targetTypes.removeCompatible, { params: { targetTypeId, distributionSetTypeId } }),
    },
  ],
};

const softwareModuleTypes: KindOf = {
  feature: "softwareModuleTypes",
  isType: true,
  renames: false,
  numbers: true,
  list: (query) => ask(r.softwareModuleTypes.list, { query }),
  create: (body) => change(r.softwareModuleTypes.create, { body: [body as { key: string; name: string }] }),
  get: (softwareModuleTypeId) => askSeen(r.softwareModuleTypes.get, { params: { softwareModuleTypeId } }),
  update: (softwareModuleTypeId, body, ifMatch) =>
    change(r.softwareModuleTypes.update, { params: { softwareModuleTypeId }, body, ifMatch }),
  remove: (softwareModuleTypeId) => change(r.softwareModuleTypes.delete, { params: { softwareModuleTypeId } }),
  rows: { create: r.softwareModuleTypes.create, update: r.softwareModuleTypes.update, delete: r.softwareModuleTypes.delete },
  links: [],
};

const distributionSetTypes: KindOf = {
  feature: "distributionSetTypes",
  isType: true,
  renames: false,
  list: (query) => ask(r.distributionSetTypes.list, { query }),
  create: (body) => change(r.distributionSetTypes.create, { body: [body as { key: string; name: string }] }),
  get: (distributionSetTypeId) => askSeen(r.distributionSetTypes.get, { params: { distributionSetTypeId } }),
  update: (distributionSetTypeId, body, ifMatch) =>
    change(r.distributionSetTypes.update, { params: { distributionSetTypeId }, body, ifMatch }),
  remove: (distributionSetTypeId) => change(r.distributionSetTypes.delete, { params: { distributionSetTypeId } }),
  rows: { create: r.distributionSetTypes.create, update: r.distributionSetTypes.update, delete: r.distributionSetTypes.delete },
  links: [
    {
      member: "mandatorymodules",
      label: t.mandatory,
      offered: moduleTypes(),
      current: (distributionSetTypeId) => ask(r.distributionSetTypes.listMandatory, { params: { distributionSetTypeId } }),
      add: (distributionSetTypeId, id) => change(r.distributionSetTypes.addMandatory, { params: { distributionSetTypeId }, body: { id } }),
      remove: (distributionSetTypeId, softwareModuleTypeId) =>
        change(r.distributionSetTypes.removeMandatory, { params: { distributionSetTypeId, softwareModuleTypeId } }),
    },
    {
      member: "optionalmodules",
      label: t.optional,
      offered: moduleTypes(),
      current: (distributionSetTypeId) => ask(r.distributionSetTypes.listOptional, { params: { distributionSetTypeId } }),
      add: (distributionSetTypeId, id) => change(r.distributionSetTypes.addOptional, { params: { distributionSetTypeId }, body: { id } }),
      remove: (distributionSetTypeId, softwareModuleTypeId) =>
        change(r.distributionSetTypes.removeOptional, { params: { distributionSetTypeId, softwareModuleTypeId } }),
    },
  ],
};

const targetTags: KindOf = {
  feature: "targetTags",
  isType: false,
  renames: true,
  list: (query) => ask(r.targetTags.list, { query }),
  create: (body) => change(r.targetTags.create, { body: [body as { name: string }] }),
  get: (targetTagId) => askSeen(r.targetTags.get, { params: { targetTagId } }),
  update: (targetTagId, body, ifMatch) => change(r.targetTags.update, { params: { targetTagId }, body, ifMatch }),
  remove: (targetTagId) => change(r.targetTags.delete, { params: { targetTagId } }),
  rows: { create: r.targetTags.create, update: r.targetTags.update, delete: r.targetTags.delete },
  links: [],
};

const distributionSetTags: KindOf = {
  feature: "distributionSetTags",
  isType: false,
  renames: true,
  list: (query) => ask(r.distributionSetTags.list, { query }),
  create: (body) => change(r.distributionSetTags.create, { body: [body as { name: string }] }),
  get: (distributionsetTagId) => askSeen(r.distributionSetTags.get, { params: { distributionsetTagId } }),
  update: (distributionsetTagId, body, ifMatch) =>
    change(r.distributionSetTags.update, { params: { distributionsetTagId }, body, ifMatch }),
  remove: (distributionsetTagId) => change(r.distributionSetTags.delete, { params: { distributionsetTagId } }),
  rows: { create: r.distributionSetTags.create, update: r.distributionSetTags.update, delete: r.distributionSetTags.delete },
  links: [],
};

export const typeKinds = { targetTypes, softwareModuleTypes, distributionSetTypes } as const;
export const tagKinds = { targetTags, distributionSetTags } as const;
