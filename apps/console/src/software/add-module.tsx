import type { DistributionSetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { software as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Choice } from "../ui/field.tsx";
import { Note, Refusal } from "../ui/states.tsx";
import { fitting, replacedBy } from "./kinds.state.ts";
import { useKinds } from "./kinds.ts";

/** So many modules are offered, the newest first. */
const offered = 200;

/** Puts a module into a set, and says before that which other one it replaces. */
export function AddModule({ set, close }: { set: DistributionSetView; close: () => void }) {
  const [id, setId] = useState("");
  const { data, error } = useQuery(ask(r.softwareModules.list, { query: { limit: offered, sort: "id:DESC" } }));
  const { kinds, error: unread } = useKinds(set.type);
  const held = new Set(set.modules.map((module) => module.id));
  const run = async () => {
    await change(r.distributionSets.assignModules, { params: { distributionSetId: set.id }, body: [{ id: Number(id) }] });
    await invalidate("distributionSets");
  };
  const all = data?.content ?? [];
  const modules = (kinds === undefined ? all : all.filter((module) => fitting([module], kinds).length > 0)).filter(
    (module) => !held.has(module.id),
  );
  const options = modules.map(({ id: value, name, version, typeName, type }) => ({
    value: String(value),
    label: `${name} ${version} — ${typeName ?? type}`,
  }));
  const chosen = modules.find((module) => String(module.id) === id);
  const kind = [...(kinds?.mandatory ?? []), ...(kinds?.optional ?? [])].find(({ key }) => key === chosen?.type);
  const replaced = replacedBy(kind, set.modules);
  return (
    <FormDialog
      open
      close={close}
      title={t.add}
      button={replaced === undefined ? t.add : t.replace}
      why={id === "" ? t.chooseModules : undefined}
      run={run}
    >
      <Refusal error={error ?? unread} />
      <Choice label={t.chooseModules} value={id} onChange={setId} options={[{ value: "", label: t.chooseModules }, ...options]} />
      {replaced !== undefined && <Note tone="warn">{t.replaces(`${replaced.name} ${replaced.version}`, kind?.name ?? "")}</Note>}
    </FormDialog>
  );
}
