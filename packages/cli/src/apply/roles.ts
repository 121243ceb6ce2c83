import { ExitError, exit } from "../exit.ts";
import type { State } from "./state.ts";

type Grant = string | { readonly permission: string; readonly targetTypes?: readonly string[] };
interface Stored {
  readonly permission: string;
  readonly targetTypeScopes: readonly number[] | null;
}

const byName = (one: Grant, other: Grant): number => (nameOf(one) < nameOf(other) ? -1 : 1);
const nameOf = (grant: Grant): string => (typeof grant === "string" ? grant : grant.permission);

/** Grants in the one form in which files and answers are compared: by name, a bare name where they are good for all targets. */
export function sortedGrants(grants: readonly Grant[]): readonly Grant[] {
  const inOneForm = grants.map((grant): Grant => {
    if (typeof grant === "string" || grant.targetTypes === undefined) return nameOf(grant);
    return { permission: grant.permission, targetTypes: [...grant.targetTypes].sort() };
  });
  return inOneForm.sort(byName);
}

/** What the server has, in the terms of a file. */
export function grantsIn(stored: readonly Stored[], state: State): readonly Grant[] {
  const typeOf = (id: number) => state.byId("TargetType", id)?.name ?? String(id);
  return sortedGrants(
    stored.map(({ permission, targetTypeScopes }) =>
      targetTypeScopes === null ? permission : { permission, targetTypes: targetTypeScopes.map(typeOf) },
    ),
  );
}

/** What a file says, in the terms of the API. */
export function grantsOf(grants: unknown, state: State): unknown {
  return ((grants ?? []) as Grant[]).map((grant) => {
    if (typeof grant === "string" || grant.targetTypes === undefined) return { permission: nameOf(grant) };
    const targetTypeScopes = grant.targetTypes.map((name) => {
      const type = state.byKey("TargetType", name);
      if (type === undefined) throw new ExitError(exit.notFound, `there is no TargetType ${name}`);
      return type.id;
    });
    return { permission: grant.permission, targetTypeScopes };
  });
}
