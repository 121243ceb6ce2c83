import { useQuery } from "@tanstack/react-query";
import { ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { quoted } from "../fiql/complete.ts";
import type { Kinds } from "./kinds.state.ts";

/** The types of modules that a type of sets takes, by its key; undefined until they are known, and without a key. */
export function useKinds(setType: string): Kinds | undefined {
  const lacking = useLacking(r.distributionSetTypes.list, r.distributionSetTypes.listMandatory, r.distributionSetTypes.listOptional);
  const types = useQuery({
    ...ask(r.distributionSetTypes.list, { query: { q: `key==${quoted(setType)}`, limit: 1 } }),
    enabled: lacking === undefined && setType !== "",
  });
  const id = types.data?.content[0]?.id;
  const of = { params: { distributionSetTypeId: id ?? 0 } };
  const enabled = id !== undefined && setType !== "";
  const { data: mandatory } = useQuery({ ...ask(r.distributionSetTypes.listMandatory, of), enabled });
  const { data: optional } = useQuery({ ...ask(r.distributionSetTypes.listOptional, of), enabled });
  return enabled && mandatory && optional ? { mandatory, optional } : undefined;
}
