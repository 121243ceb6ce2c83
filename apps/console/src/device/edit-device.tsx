import { useState } from "react";
import { change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { device as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";

interface Editable {
  readonly controllerId: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly group?: string | undefined;
}

/** Changes what people wrote about a device. */
export function EditDevice({ target, close }: { target: Editable; close: () => void }) {
  const [name, setName] = useState(target.name);
  const [description, setDescription] = useState(target.description ?? "");
  const [group, setGroup] = useState(target.group ?? "");
  const run = async () => {
    await change(r.targets.update, { params: { targetId: target.controllerId }, body: { name, description, group } });
    await invalidate("targets");
  };
  return (
    <FormDialog open close={close} title={t.editTitle} button={t.save} run={run}>
      <Field label={t.name} value={name} onChange={setName} maxLength={128} required />
      <Field label={t.description} value={description} onChange={setDescription} maxLength={512} lines />
      <Field label={t.group} value={group} onChange={setGroup} maxLength={256} />
    </FormDialog>
  );
}
