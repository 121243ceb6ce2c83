import { useQuery } from "@tanstack/react-query";
import { ask, r } from "../api/client.ts";
import { me } from "../api/session.ts";
import { devices as t } from "../text/en.ts";
import { Note } from "../ui/states.tsx";

/** Says to whoever is restricted to types of devices that what is shown is not the whole fleet, and of which types it is. */
export function Scoped() {
  const ids = useQuery(me).data?.targetTypeScopes?.["READ_TARGET"];
  const types = useQuery({ ...ask(r.targetTypes.list, { query: { limit: 500 } }), enabled: ids !== undefined, staleTime: 300_000 });
  if (ids === undefined) return null;
  // Until their names are there, and where they cannot be read, their ids say which they are.
  const names = ids.map((id) => types.data?.content.find((type) => type.id === id)?.name ?? String(id));
  return <Note>{names.length === 0 ? t.scopedToNone : t.scoped(names.join(", "))}</Note>;
}
