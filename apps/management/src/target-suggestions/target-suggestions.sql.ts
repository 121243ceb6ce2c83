import { type Statement, statement } from "@harrier/db";
import { inScope, type Scope } from "@harrier/query";

/** What the values are looked for in: a column of targets, or keys and values of what targets have. */
export type SuggestedKind = "controllerid" | "name" | "group" | "attributeKeys" | "attributeValues" | "metadataKeys" | "metadataValues";

/** Where the values of a kind are, and the folded form of the index that orders them. */
interface Source {
  readonly from: string;
  readonly fold: string;
  readonly shown: string;
  readonly where: string;
  /** The index of keys is in the order of the database, the others compare bytes. */
  readonly byBytes: boolean;
  /** Id of the target that has the value. */
  readonly targetId: string;
}

const ofTargets = (column: string): Source => ({
  from: "controller.targets_v1 x",
  fold: `lower(x.${column})`,
  shown: `x.${column}`,
  where: `x.${column} is not null and $3::text is null`,
  byBytes: true,
  targetId: "x.id",
});
const keysOf = (view: string): Source => ({
  from: `controller.${view} x`,
  fold: "lower(x.key)",
  shown: "x.key",
  where: "$3::text is null",
  byBytes: false,
  targetId: "x.target_id",
});
const valuesOf = (view: string, fold: string, where = "true"): Source => ({
  from: `controller.${view} x`,
  fold,
  shown: "x.value",
  where: `lower(x.key) = lower($3::text) and ${where}`,
  byBytes: true,
  targetId: "x.target_id",
});

/** A value of metadata is indexed by its first 200 characters; longer ones are no words that somebody picks from a list. */
const sources: Readonly<Record<SuggestedKind, Source>> = {
  controllerid: ofTargets("controller_id"),
  name: ofTargets("name"),
  group: ofTargets("target_group"),
  attributeKeys: keysOf("target_attributes_v1"),
  attributeValues: valuesOf("target_attributes_v1", "lower(x.value)"),
  metadataKeys: keysOf("target_metadata_v1"),
  metadataValues: valuesOf("target_metadata_v1", "left(lower(x.value), 200)", "length(x.value) <= 200"),
};

/** The last character of Unicode is behind each that a value may go on with; a pattern would take a '%' in the text for any text. */
const begins = ({ fold, byBytes }: Source): string =>
  byBytes ? `${fold} ~>=~ lower($2) and ${fold} ~<~ (lower($2) || U&'\\+10FFFF')` : `${fold} >= lower($2)`;

const matching = (source: Source): string => `x.tenant_id = $1 and ${source.where} and ${begins(source)}`;

/** Answers the first value that fulfils the condition. */
const first = (source: Source, condition: string): string => {
  const { from, fold, shown, byBytes } = source;
  return `select ${fold} as fold, ${shown} as shown from ${from}
           where ${matching(source)} and ${condition} order by ${fold} ${byBytes ? "using ~<~" : ""} limit 1`;
};

/** It reads the index once per value, however many targets have the value. Keys end where one no longer begins with the text. */
const walk = (source: Source): string => `
  with recursive found (fold, shown, n) as (
    select f.fold, f.shown, 1 from (${first(source, "true")}) f where starts_with(f.fold, lower($2))
    union all
    select f.fold, f.shown, p.n + 1
      from found p cross join lateral (${first(source, `${source.fold} ${source.byBytes ? "~>~" : ">"} p.fold`)}) f
     where p.n <= $4::int and starts_with(f.fold, lower($2)))
  select shown as value, false as cut from found where $5::bigint[] is null order by n`;

/** Of a restricted user's range so many entries are looked at, because those of other types lie between those that may be seen. */
export const entriesInScope = 20_000;

const sample = (source: Source): string => {
  const { from, fold, shown, byBytes, targetId } = source;
  const order = `order by ${fold} ${byBytes ? "using ~<~" : ""}`;
  return `
  with entries as materialized (
    select ${fold} as fold, ${shown} as shown, ${targetId} as target_id
      from ${from} where ${matching(source)} ${order} limit ${entriesInScope}),
  visible as (
    select min(e.shown) as value, e.fold
      from entries e join controller.targets_v1 t on t.tenant_id = $1 and t.id = e.target_id
     where ${inScope("t.target_type_id", "$5")} and starts_with(e.fold, lower($2))
     group by e.fold order by e.fold collate "C" limit $4::int + 1)
  select v.value, c.cut
    from (select count(*) = ${entriesInScope} as cut from entries) c left join visible v on true order by v.fold collate "C"`;
};

type Suggest = Statement<
  [tenantId: number, prefix: string, key: string | null, limit: number, scope: Scope],
  { value: string | null; cut: boolean }
>;

const made = (name: string, text: (source: Source) => string): Readonly<Record<SuggestedKind, Suggest>> =>
  Object.fromEntries(
    Object.entries(sources).map(([kind, source]) => [kind, statement(`management.${name}_${kind.toLowerCase()}`, text(source))]),
  ) as Record<SuggestedKind, Suggest>;

/**
 * Finds the first values that begin with a text, in any case of letters and each once, at most one more than the limit, in one round trip. For a
 * caller without restriction it reads the index once per value.
 */
export const suggest = made("suggest", walk);

/** Does the same for the targets of some types, among the first entries of the range; `cut` says that there may be others; where none is found its row has no value. */
export const suggestInScope = made("suggest_scoped", sample);
