import { actionSort, actionStatusSort } from "./action-fields.ts";
import {
  autoAssignmentSort,
  metadataSort,
  moduleMetadataSort,
  moduleSort,
  moduleTypeSort,
  setSort,
  tagSort,
  targetFilterSort,
  typeSort,
} from "./catalogue-fields.ts";
import { groupSort, rolloutSort } from "./rollout-fields.ts";
import { targetSort } from "./target-fields.ts";

export { actionFields } from "./action-fields.ts";
export { type Argument, type Ast, type Comparison, comparisonsOf, type Logical, type Operator } from "./ast.ts";
export {
  autoAssignmentFields,
  metadataFields,
  moduleFields,
  moduleMetadataFields,
  moduleTypeFields,
  setFields,
  tagFields,
  targetFilterFields,
  typeFields,
} from "./catalogue-fields.ts";
export { type Compiled, type CompileOptions, compile, type LookupResults } from "./compile.ts";
export type { ById, EnumCode, Field, FieldMap, MapField, RelationField, ScalarField, SortMap } from "./fields.ts";
export { type Lookup, lookups } from "./lookups.ts";
export type { Macros } from "./macros.ts";
export { orderBy } from "./order-by.ts";
export { limits, parse } from "./parse.ts";
export { needsQuotes, print, printArgument, symbolOf } from "./print.ts";
export { entries, type Links, tagRelation } from "./relations.ts";
export { groupFields, rolloutFields } from "./rollout-fields.ts";
export { targetFields } from "./target-fields.ts";

/** The sort map of each entity, for `orderBy`. */
export const sortFields = {
  targets: targetSort,
  distributionSets: setSort,
  softwareModules: moduleSort,
  softwareModuleTypes: moduleTypeSort,
  distributionSetTypes: typeSort,
  targetTypes: typeSort,
  actions: actionSort,
  actionStatuses: actionStatusSort,
  rollouts: rolloutSort,
  rolloutGroups: groupSort,
  tags: tagSort,
  targetFilters: targetFilterSort,
  autoAssignments: autoAssignmentSort,
  metadata: metadataSort,
  moduleMetadata: moduleMetadataSort,
} as const;
