import { useQuery } from "@tanstack/react-query";
import { ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { quoted } from "../fiql/complete.ts";
import type { Kinds } from "./kinds.state.ts";

/** The types of modules that a type of sets takes, by its key; undefined until they are known, and without a key. `error`: they could not be read. */
export function useKinds(setType: string): { readonly kinds: Kinds | undefined; readonly error: Error | null } {
  const lacking = useLacking(r.distributionSetTypes.list, r.distributionSetTypes.listMandatory, r.distributionSetTypes.listOptional);
  const types = useQuery({
    ...ask(r.distributionSetTypes.list, { query: { q: `key==${quoted(setType)}`, limit: 1 } }),
    enabled: lacking === undefined && setType !== "",
  });
  const id = types.data?.content[0]?.id;
  const of = { params: { distributionSetTypeId: id ?? 0 } };
  const enabled = id !== undefined && setType !== "";
  const mandatory = useQuery({ ...ask(r.distributionSetTypes.listMandatory, of), enabled });
  const optional = useQuery({ ...ask(r.distributionSetTypes.listOptional, of), enabled });
  const known = enabled && mandatory.data !== undefined && optional.data !== undefined;
  return {
    kinds: known ? { mandatory: mandatory.data, optional: optional.data } : undefined,
    error: types.error ?? mandatory.error ?? optional.error,
  };
}
