import type { TargetView } from "@harrier/contracts";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { change, r } from "../api/client.ts";
import { unlessExists } from "../api/exists.ts";
import { invalidate } from "../api/query-client.ts";
import { devices as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";
import { toast } from "../ui/toast.tsx";
import { Connect } from "./connect.tsx";

/** Adds one device; many come by CSV or by themselves. */
export function AddDevice({ close }: { close: () => void }) {
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  // The form closes itself when the server has taken it: then its place is taken by how the device connects.
  const made = useRef<TargetView>(undefined);
  const [added, setAdded] = useState<TargetView>();
  const navigate = useNavigate();
  const run = async () => {
    const body = [{ controllerId: id.trim(), ...(name.trim() === "" ? {} : { name: name.trim() }) }];
    [made.current] = await unlessExists(change(r.targets.create, { body }), t.exists(id.trim()));
    toast(t.created(id.trim()));
    await invalidate("targets");
  };
  if (added !== undefined) {
    const toDevice = () => {
      close();
      void navigate({ to: "/devices/$controllerId", params: { controllerId: added.controllerId }, search: { tab: "access" } });
    };
    return <Connect of={added} close={toDevice} />;
  }
  return (
    <FormDialog
      open
      close={() => (made.current === undefined ? close() : setAdded(made.current))}
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
