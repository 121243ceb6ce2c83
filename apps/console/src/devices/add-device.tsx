import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { devices as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { toast } from "../ui/toast.tsx";

/** Adds one device; many come by CSV or by themselves. */
export function AddDevice({ close }: { close: () => void }) {
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const navigate = useNavigate();
  const run = async () => {
    await change(r.targets.create, { body: [{ controllerId: id.trim(), ...(name.trim() === "" ? {} : { name: name.trim() }) }] });
    toast(t.created(id.trim()));
    await invalidate("targets");
    await navigate({ to: "/devices/$controllerId", params: { controllerId: id.trim() }, search: { tab: "access" } });
  };
  return (
    <FormDialog
      open
      close={close}
      title={t.add}
      text={t.addText}
      button={t.create}
      why={id.trim() === "" ? t.controllerIdHint : undefined}
      run={run}
    >
      <Field
        label={t.controllerId}
        hint={t.controllerIdHint}
        value={id}
        onChange={setId}
        maxLength={limits.controllerId}
        autoFocus
        spellCheck={false}
      />
      <Field label={t.name} hint={t.nameHint} value={name} onChange={setName} maxLength={limits.name} />
    </FormDialog>
  );
}
