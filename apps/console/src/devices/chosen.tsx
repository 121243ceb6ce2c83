import type { OperationView } from "@harrier/contracts";
import { useState } from "react";
import { change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { quoted } from "../fiql/complete.ts";
import { states, devices as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, FormDialog } from "../ui/confirm.tsx";
import { Choice } from "../ui/field.tsx";
import { SetChoice } from "../ui/set-choice.tsx";
import { toast } from "../ui/toast.tsx";
import { BulkDialog } from "./bulk.tsx";
import style from "./devices.module.css";

interface ChosenProps {
  readonly ids: readonly string[];
  /** All that match are chosen: they are meant by the query, and never listed. */
  readonly all?: { readonly q: string; readonly total: number } | undefined;
  readonly total: number;
  readonly onAll: () => void;
  readonly onNone: () => void;
  /** A change goes on in the background, under this number. */
  readonly begun: (operationId: number) => void;
}

/** What can be done with the chosen devices. */
export function Chosen({ ids, all, total, onAll, onNone, begun }: ChosenProps) {
  const [dialog, setDialog] = useState<"assign" | "addTag" | "assignSet">();
  const number = all?.total ?? ids.length;
  const lacksAssign = useLacking(r.distributionSets.assignTargets);
  const lacksChange = useLacking(r.targets.change);
  const lacksDelete = useLacking(r.targets.deleteByQuery);
  const why = (missing: string | undefined) => (missing === undefined ? undefined : states.missing(missing));
  const remove = async () => {
    // One request whatever was chosen; the server deletes only if exactly so many match.
    const query = { q: all?.q ?? `controllerid=in=(${ids.map(quoted).join(",")})`, confirm: number };
    // Many are deleted in the background; few are gone with the answer, which is empty then.
    const operation = (await change(r.targets.deleteByQuery, { query })) as OperationView | undefined;
    if (operation === undefined) toast(t.deleted(number));
    else begun(operation.id);
    onNone();
    await invalidate("targets");
  };
  return (
    <div className={style["chosen"]}>
      <span>{t.selected(number)}</span>
      {all === undefined && total > ids.length && (
        <Button small look="ghost" onClick={onAll}>
          {t.all(total)}
        </Button>
      )}
      <Button
        small
        why={why(all === undefined ? lacksAssign : lacksChange)}
        onClick={() => setDialog(all === undefined ? "assign" : "assignSet")}
      >
        {t.assign}
      </Button>
      <Button small why={why(lacksChange)} onClick={() => setDialog("addTag")}>
        {t.bulk.open}
      </Button>
      <Confirm
        small
        look="danger"
        why={why(lacksDelete)}
        trigger={t.delete}
        title={t.deleteTitle(number)}
        text={t.deleteText}
        button={t.delete}
        typed={number > 10 ? String(number) : undefined}
        run={remove}
      />
      <Button small look="ghost" onClick={onNone}>
        {t.unselect}
      </Button>
      {dialog === "assign" && <AssignDialog ids={ids} close={() => setDialog(undefined)} />}
      {(dialog === "addTag" || dialog === "assignSet") && (
        <BulkDialog many={all ?? { ids }} first={dialog} close={() => setDialog(undefined)} begun={begun} />
      )}
    </div>
  );
}

/** Assigns a set to devices, each with an update of its own. It is there only while it is open, so that it begins with nothing chosen. */
export function AssignDialog({ ids, close }: { ids: readonly string[]; close: () => void }) {
  const [set, setSet] = useState("");
  const [type, setType] = useState("forced");
  const run = async () => {
    const body = ids.map((id) => ({ id, type: type as "forced" | "soft" | "downloadonly" }));
    const made = await change(r.distributionSets.assignTargets, { params: { distributionSetId: set }, body });
    toast(t.assigned(made.assigned, made.alreadyAssigned));
    await invalidate("targets", "actions");
  };
  return (
    <FormDialog
      open
      close={close}
      title={t.assignTitle(ids.length)}
      text={t.assignText}
      button={t.assign}
      why={set === "" ? t.setNone : undefined}
      run={run}
    >
      <SetChoice value={set} onChange={setSet} />
      <Choice
        label={t.force}
        value={type}
        onChange={setType}
        options={Object.entries(t.forces).map(([value, label]) => ({ value, label }))}
      />
    </FormDialog>
  );
}
