import { r } from "../routes.ts";
import type { Session } from "../session.ts";
import type { Manifest } from "./documents.ts";
import { comparedGroups, createdGroups, wantedGroups } from "./groups.ts";
import { everyOf, type Found, keyOf, kinds, moduleNames, namedIn, ofGroups, readByNames } from "./kinds.ts";
import { grantsIn, sortedGrants } from "./roles.ts";
import type { KindName } from "./schemas.ts";

type Stored = Exclude<KindName, "Setting">;
/** What a file can say of a rollout that no policy watches. */
const unwatched = { policy: "none", skip: "assigned" } as const;

/** The groups of a rollout's file, each with what the file says for all of them. */
function wholeGroups(spec: Manifest["spec"]): Found[] | undefined {
  if (!Array.isArray(spec["groups"])) return undefined;
  const common = Object.fromEntries(ofGroups.filter((name) => spec[name] !== undefined).map((name) => [name, spec[name]]));
  return (spec["groups"] as Found[]).map((group) => ({ ...common, ...group }));
}

/** What the server has of everything that the manifests name, and what comes to it while they are applied. */
export class State {
  readonly #found = new Map<Stored, Map<string, Found>>();
  readonly #session: Session;
  settings: Readonly<Record<string, { value: unknown }>> = {};

  private constructor(session: Session) {
    this.#session = session;
  }

  static async read(session: Session, manifests: readonly Manifest[]): Promise<State> {
    const state = new State(session);
    for (const [kind, names] of namedIn(manifests)) state.#found.set(kind, await readByNames(session, kind, names));
    if (manifests.some(({ kind }) => kind === "Setting")) state.settings = await session.read(r.configs.list);
    // types are few, and named by key
    const named = manifests.some(({ kind }) => kind === "SetType" || kind === "TargetType");
    if (named) for (const kind of ["ModuleType", "SetType"] as const) await state.#readAll(kind);
    if (manifests.some(({ kind }) => kind === "Role")) await state.#readAll("TargetType");
    return state;
  }

  async #readAll(kind: Stored): Promise<void> {
    const all = this.#found.get(kind) ?? new Map<string, Found>();
    for await (const row of everyOf(this.#session, kind)) all.set(row.name, row);
    this.#found.set(kind, all);
  }

  get(kind: Stored, name: string): Found | undefined {
    return this.#found.get(kind)?.get(name);
  }

  byKey(kind: Stored, key: string): Found | undefined {
    return [...(this.#found.get(kind)?.values() ?? [])].find((one) => one["key"] === key || one.name === key);
  }

  byId(kind: Stored, id: number): Found | undefined {
    return [...(this.#found.get(kind)?.values() ?? [])].find((one) => one.id === id);
  }

  /** Reads all of a kind that others name by id. */
  static async ofAll(session: Session, kind: Stored): Promise<State> {
    const state = new State(session);
    await state.#readAll(kind);
    return state;
  }

  put(kind: Stored, found: Found): void {
    const of = this.#found.get(kind) ?? new Map<string, Found>();
    of.set(keyOf(kinds[kind].versioned ? found : { name: found.name }), found);
    this.#found.set(kind, of);
  }

  /** The members of an object in the terms of a file, so that both can be compared. */
  async members(kind: Stored, found: Found, manifest: Manifest): Promise<Record<string, unknown>> {
    const { spec } = manifest;
    if (kind === "DistributionSet") return { ...found, modules: ((found["modules"] ?? []) as Found[]).map(keyOf).sort() };
    if (typeof spec["set"] === "string") {
      const same = this.get("DistributionSet", spec["set"])?.id === found["distributionSetId"];
      const set = { ...found, set: same ? spec["set"] : `set ${String(found["distributionSetId"])}`, safety: found["safety"] ?? unwatched };
      return kind === "Rollout" ? { ...set, ...(await this.#groups(found, spec)) } : set;
    }
    if (kind === "SetType" && (spec["mandatory"] ?? spec["optional"]) !== undefined) {
      const params = { distributionSetTypeId: found.id };
      const [mandatory, optional] = await Promise.all([
        this.#session.read(r.distributionSetTypes.listMandatory, { params }),
        this.#session.read(r.distributionSetTypes.listOptional, { params }),
      ]);
      return { ...found, mandatory: mandatory.map(({ key }) => key).sort(), optional: optional.map(({ key }) => key).sort() };
    }
    if (kind === "TargetType" && spec["setTypes"] !== undefined) {
      const types = await this.#session.read(r.targetTypes.listCompatible, { params: { targetTypeId: found.id } });
      return { ...found, setTypes: types.map(({ key }) => key).sort() };
    }
    if (kind === "Role") return { ...found, permissions: grantsIn((found["permissions"] ?? []) as never, this) };
    if (kind === "OAuthClient") return { ...found, scopes: [...((found["scopes"] ?? []) as string[])].sort() };
    return found;
  }

  async #groups(found: Found, spec: Manifest["spec"]): Promise<Record<string, unknown>> {
    const wanted = wholeGroups(spec);
    if (wanted === undefined && ["amountGroups", ...ofGroups].every((name) => spec[name] === undefined)) return {};
    const groups: Found[] = [];
    for await (const group of this.#session.list(r.rollouts.listGroups, { all: true }, { params: { rolloutId: found.id } }))
      groups.push(group as unknown as Found);
    const created = createdGroups(groups);
    if (wanted !== undefined) return { amountGroups: created.length, groups: comparedGroups(groups, wanted) };
    const [first] = [...created, ...groups];
    // Where the tenant's flow of confirmations is off, the server shows nothing of it: what cannot be compared is as the file says.
    const confirmation = { confirmationRequired: first?.["confirmationRequired"] ?? spec["confirmationRequired"] };
    return { amountGroups: created.length, ...Object.fromEntries(ofGroups.map((name) => [name, first?.[name]])), ...confirmation };
  }

  /** The members of a file in the terms in which `members` has them. */
  static wanted({ kind, spec }: Manifest): Record<string, unknown> {
    const sorted = (value: unknown) => (Array.isArray(value) ? [...(value as string[])].sort() : value);
    if (kind === "DistributionSet") return { ...spec, ...(spec["modules"] === undefined ? {} : { modules: moduleNames(spec).sort() }) };
    if (kind === "Role" && spec["permissions"] !== undefined) return { permissions: sortedGrants(spec["permissions"] as string[]) };
    if (kind === "ApiKey") return { ...spec, expiresAt: Date.parse(spec["expiresAt"] as string) };
    const groups = wholeGroups(spec);
    if (groups !== undefined) {
      const others = Object.entries(spec).filter(([name]) => !ofGroups.includes(name as "errorAction"));
      return { ...Object.fromEntries(others), groups: wantedGroups(groups) };
    }
    return Object.fromEntries(
      Object.entries(spec).map(([name, value]) => [
        name,
        ["mandatory", "optional", "setTypes", "scopes"].includes(name) ? sorted(value) : value,
      ]),
    );
  }
}
