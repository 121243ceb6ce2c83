import type { PermissionInfoView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Asked, ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { common, people as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import { Check } from "../ui/field.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { bodyOf, type Grants, grantsOf, withPermission, withScope } from "./grants.state.ts";
import style from "./settings.module.css";

interface MatrixDialogProps {
  readonly name: string;
  readonly asked: Asked<Parameters<typeof grantsOf>[0]>;
  /** Why nothing can be changed. */
  readonly why?: string | undefined;
  readonly save: (body: ReturnType<typeof bodyOf>) => Promise<unknown>;
  readonly close: () => void;
}

/** The permissions of a user or of a role, by area. */
export function MatrixDialog({ name, asked, why, save, close }: MatrixDialogProps) {
  const [edited, setEdited] = useState<Grants>();
  const held = useQuery(asked);
  const all = useQuery({ ...ask(r.permissions.list), staleTime: 600_000 });
  const grants = edited ?? (held.data && grantsOf(held.data));
  const error = held.error ?? all.error;
  const again = () => void Promise.all([held.refetch(), all.refetch()]);
  return (
    <FormDialog
      open
      wide
      close={close}
      title={t.permissionsOf(name)}
      text={t.permissionsText}
      button={common.save}
      why={why ?? (edited === undefined ? common.nothingChanged : undefined)}
      run={() => save(bodyOf(grants ?? {}))}
    >
      {error !== null && <Failure error={error} retry={again} />}
      {error === null && (grants === undefined || all.data === undefined) && <Skeleton lines={6} />}
      {grants !== undefined && all.data !== undefined && <Matrix all={all.data} grants={grants} edit={setEdited} />}
    </FormDialog>
  );
}

interface MatrixProps {
  readonly all: readonly PermissionInfoView[];
  readonly grants: Grants;
  readonly edit: (grants: Grants) => void;
}

function Matrix({ all, grants, edit }: MatrixProps) {
  const areas = [...new Set(all.map(({ area }) => area))];
  return areas.map((area) => (
    <fieldset key={area} className={style["area"]}>
      <legend>{t.areas[area] ?? area}</legend>
      {all
        .filter((row) => row.area === area)
        .map((row) => (
          <One key={row.name} row={row} grants={grants} edit={edit} />
        ))}
    </fieldset>
  ));
}

function One({ row: { name, text, targetRelated, implies }, grants, edit }: Omit<MatrixProps, "all"> & { row: PermissionInfoView }) {
  const on = Object.hasOwn(grants, name);
  const hint = [name, implies.length > 0 ? t.implies(implies.join(", ")) : ""].filter(Boolean).join(" · ");
  return (
    <div>
      <Check label={text} hint={hint} checked={on} onChange={(next) => edit(withPermission(grants, name, next))} />
      {on && targetRelated && <Scopes name={name} grants={grants} edit={edit} />}
    </div>
  );
}

/** The device types that a permission may be restricted to; whoever may not read them leaves the restriction as it is. */
function Scopes({ name, grants, edit }: Omit<MatrixProps, "all"> & { name: string }) {
  const readable = useLacking(r.targetTypes.list) === undefined;
  const { data } = useQuery({ ...ask(r.targetTypes.list, { query: { limit: 100, sort: "name:ASC" } }), enabled: readable });
  const scopes = grants[name];
  if (data === undefined || data.content.length === 0) return null;
  return (
    <fieldset className={style["area"]}>
      <legend>{t.scopeOf(name)}</legend>
      <div className={style["scopes"]}>
        <Check label={t.allTypes} checked={scopes === null} onChange={(all) => edit({ ...grants, [name]: all ? null : [] })} />
        {data.content.map((type) => (
          <Check
            key={type.id}
            label={type.name}
            checked={scopes?.includes(type.id) ?? false}
            onChange={(on) => edit(withScope(grants, name, type.id, on))}
          />
        ))}
      </div>
    </fieldset>
  );
}
