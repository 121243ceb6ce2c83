import type { DistributionSetView, SoftwareModuleView } from "@harrier/contracts";
import { useState } from "react";
import { askSeen, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { common, states, software as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/confirm.tsx";
import { Reading, type Seen, useEdits } from "../ui/edited.tsx";
import { Check, Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";

/** Opens the form of a set: its name and version stay those of what was assigned once it is locked. */
export function EditSet({ setId }: { setId: number }) {
  const [open, setOpen] = useState(false);
  const lacking = useLacking(r.distributionSets.update);
  const close = () => setOpen(false);
  return (
    <>
      <Button why={lacking && states.missing(lacking)} onClick={() => setOpen(true)}>
        {common.edit}
      </Button>
      {open && (
        <Reading asked={askSeen(r.distributionSets.get, { params: { distributionSetId: setId } })} title={t.editSet} close={close}>
          {(seen) => <SetForm seen={seen} close={close} />}
        </Reading>
      )}
    </>
  );
}

function SetForm({ seen: { body: set, tag, again }, close }: { seen: Seen<DistributionSetView>; close: () => void }) {
  const { name, version, description = "", requiredMigrationStep } = set;
  const { value, edit, changed, nothing } = useEdits({ name, version, description, requiredMigrationStep });
  const lacks = value.name.trim() === "" ? t.name : value.version.trim() === "" ? t.version : undefined;
  const run = async () => {
    await change(r.distributionSets.update, { params: { distributionSetId: set.id }, body: changed, ifMatch: tag });
    await invalidate("distributionSets");
  };
  return (
    <FormDialog open close={close} title={t.editSet} button={common.save} why={nothing ?? lacks} run={run} again={again}>
      <Field label={t.name} value={value.name} onChange={(next) => edit({ name: next })} maxLength={limits.name} autoFocus />
      <Field label={t.version} value={value.version} onChange={(next) => edit({ version: next })} maxLength={limits.version} />
      <Field
        label={t.description}
        value={value.description}
        onChange={(next) => edit({ description: next })}
        maxLength={limits.description}
        lines
      />
      <Check label={t.migrationStep} checked={value.requiredMigrationStep} onChange={(next) => edit({ requiredMigrationStep: next })} />
    </FormDialog>
  );
}

/** Opens the form of a module, whose name, version and encryption are for ever. */
export function EditModule({ moduleId }: { moduleId: number }) {
  const [open, setOpen] = useState(false);
  const lacking = useLacking(r.softwareModules.update);
  const close = () => setOpen(false);
  return (
    <>
      <Button why={lacking && states.missing(lacking)} onClick={() => setOpen(true)}>
        {common.edit}
      </Button>
      {open && (
        <Reading asked={askSeen(r.softwareModules.get, { params: { softwareModuleId: moduleId } })} title={t.editModule} close={close}>
          {(seen) => <ModuleForm seen={seen} close={close} />}
        </Reading>
      )}
    </>
  );
}

function ModuleForm({ seen: { body: module, tag, again }, close }: { seen: Seen<SoftwareModuleView>; close: () => void }) {
  const { description = "", vendor = "" } = module;
  const { value, edit, changed, nothing } = useEdits({ description, vendor });
  const run = async () => {
    await change(r.softwareModules.update, { params: { softwareModuleId: module.id }, body: changed, ifMatch: tag });
    await invalidate("softwareModules");
  };
  return (
    <FormDialog open close={close} title={t.editModule} button={common.save} why={nothing} run={run} again={again}>
      <Field
        label={t.description}
        value={value.description}
        onChange={(next) => edit({ description: next })}
        maxLength={limits.description}
        lines
        autoFocus
      />
      <Field label={t.vendor} value={value.vendor} onChange={(next) => edit({ vendor: next })} maxLength={limits.vendor} />
    </FormDialog>
  );
}
