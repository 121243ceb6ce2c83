import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { quoted } from "../fiql/complete.ts";
import { states, devices as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Confirm, FormDialog } from "../ui/confirm.tsx";
import { Choice } from "../ui/field.tsx";
import { SetChoice } from "../ui/set-choice.tsx";
import { toast } from "../ui/toast.tsx";
import style from "./devices.module.css";

interface ChosenProps {
  readonly ids: readonly string[];
  /** All that match are chosen: they are meant by the query, and never listed. */
  readonly all?: { readonly q: string; readonly total: number } | undefined;
  readonly total: number;
  readonly onAll: () => void;
  readonly onNone: () => void;
}

/** What can be done with the chosen devices; with all that match only what the server does by a query. */
export function Chosen({ ids, all, total, onAll, onNone }: ChosenProps) {
  const [dialog, setDialog] = useState<"assign" | "tag">();
  const number = all?.total ?? ids.length;
  const mayAssign = useLacking(r.distributionSets.assignTargets);
  const mayDelete = useLacking(r.targets.deleteByQuery);
  const why = (missing: string | undefined) => (missing === undefined ? undefined : states.missing(missing));
  const remove = async () => {
    // One request whatever was chosen; the server deletes only if exactly so many match.
    await change(r.targets.deleteByQuery, { query: { q: all?.q ?? `controllerid=in=(${ids.map(quoted).join(",")})`, confirm: number } });
    toast(t.deleted(number));
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
      {all === undefined && (
        <Button small why={why(mayAssign)} onClick={() => setDialog("assign")}>
          {t.assign}
        </Button>
      )}
      <Button small why={why(mayAssign)} onClick={() => setDialog("tag")}>
        {t.tag}
      </Button>
      <Confirm
        small
        look="danger"
        why={why(mayDelete)}
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
      <AssignDialog open={dialog === "assign"} ids={ids} close={() => setDialog(undefined)} />
      <TagDialog open={dialog === "tag"} number={number} ids={ids} all={all} close={() => setDialog(undefined)} />
    </div>
  );
}

/** Assigns a set to devices, each with an update of its own. */
export function AssignDialog({ open, ids, close }: { open: boolean; ids: readonly string[]; close: () => void }) {
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
      open={open}
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

function TagDialog({
  open,
  number,
  ids,
  all,
  close,
}: {
  open: boolean;
  number: number;
  ids: readonly string[];
  all: ChosenProps["all"];
  close: () => void;
}) {
  const [tag, setTag] = useState("");
  const { data } = useQuery({ ...ask(r.targetTags.list, { query: { limit: 500 } }), enabled: open });
  const run = async () => {
    const action = { action: "addTag" as const, tagId: Number(tag) };
    await change(r.targets.change, {
      body: all === undefined ? { ...action, controllerIds: [...ids] } : { ...action, q: all.q, confirm: all.total },
    });
    toast(t.tagDone);
    await invalidate("targets");
  };
  const options = (data?.content ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  return (
    <FormDialog open={open} close={close} title={t.tagTitle(number)} button={t.tag} why={tag === "" ? t.tagNone : undefined} run={run}>
      <Choice label={t.tag} value={tag} onChange={setTag} options={[{ value: "", label: t.tagNone }, ...options]} />
    </FormDialog>
  );
}
