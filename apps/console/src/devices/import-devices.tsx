import type { TargetImportView } from "@harrier/contracts";
import { useRef, useState } from "react";
import { ApiError, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { shell, importing as t } from "../text/en.ts";
import { FormDialog } from "../ui/confirm.tsx";
import field from "../ui/field.module.css";
import { Choice } from "../ui/field.tsx";
import { InfoDialog } from "../ui/info-dialog.tsx";
import { Scroll } from "../ui/scroll.tsx";
import { Note } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { type CsvLook, lookAt, lookedAtMost } from "./import.state.ts";

/** Adds the devices of a CSV file. What is in it is said before it is sent, and what was not taken, by its line. */
export function ImportDevices({ close }: { close: () => void }) {
  const [file, setFile] = useState<File>();
  const [look, setLook] = useState<CsvLook>();
  const [onError, setOnError] = useState("abort");
  const [refused, setRefused] = useState<TargetImportView>();
  const [taken, setTaken] = useState<TargetImportView>();
  const isPartial = useRef(false);
  const newest = useRef<File>(undefined);
  const choose = async (chosen: File | undefined) => {
    newest.current = chosen;
    setFile(chosen);
    setLook(undefined);
    setRefused(undefined);
    if (chosen === undefined || chosen.size > lookedAtMost) return;
    const text = await chosen.text();
    // Another file may have been chosen while this one was read: a look describes only what would be sent.
    if (newest.current === chosen) setLook(lookAt(text));
  };
  const run = async () => {
    setRefused(undefined);
    // The browser reads the file while it is sent.
    const body = file as unknown as string;
    const answer = await change(r.targets.importCsv, { query: { onError }, body }).catch((error: unknown) => {
      setRefused(linesOf(error));
      throw error;
    });
    await invalidate("targets");
    isPartial.current = answer.failed > 0;
    if (isPartial.current) setTaken(answer);
    else toast(t.created(answer.created));
  };
  if (taken !== undefined) {
    return (
      <InfoDialog title={t.resultTitle} closeText={shell.close} close={close} wide>
        <Note tone="warn" alert>
          {t.result(taken.created, taken.failed)}
        </Note>
        <Lines of={taken} />
      </InfoDialog>
    );
  }
  return (
    <FormDialog
      open
      wide
      close={() => isPartial.current || close()}
      title={t.title}
      text={t.text}
      button={t.button(look?.records)}
      why={whyNot(file, look)}
      run={run}
    >
      <label className={field["field"]}>
        <span className={field["label"]}>{t.file}</span>
        <input type="file" accept=".csv,text/csv" onChange={({ target }) => void choose(target.files?.[0])} />
      </label>
      {file !== undefined && file.size > lookedAtMost && <Note>{t.large}</Note>}
      {look?.hasId && look.unknown === undefined && <Note>{t.look(look.records, look.columns.join(", "))}</Note>}
      <Choice
        label={t.onError}
        value={onError}
        onChange={setOnError}
        options={(["abort", "skip"] as const).map((value) => ({ value, label: t.onErrors[value] }))}
      />
      {refused !== undefined && <Lines of={refused} />}
    </FormDialog>
  );
}

/** The lines by which the server has refused a file, if it names any. */
function linesOf(error: unknown): TargetImportView | undefined {
  const info = error instanceof ApiError ? (error.body.info as Partial<TargetImportView> | undefined) : undefined;
  return info?.errors?.length ? { created: 0, failed: info.failed ?? info.errors.length, errors: info.errors } : undefined;
}

/** Why the file cannot be sent. */
function whyNot(file: File | undefined, look: CsvLook | undefined): string | undefined {
  if (file === undefined) return t.fileFirst;
  if (look === undefined) return file.size > lookedAtMost ? undefined : t.reading;
  if (!look.hasId) return t.noId;
  if (look.unknown !== undefined) return t.unknown(look.unknown);
  return look.records === 0 ? t.nothing : undefined;
}

/** What was not taken, by its line. */
function Lines({ of: { failed, errors } }: { of: TargetImportView }) {
  return (
    <>
      <Scroll>
        <Table columns={[t.line, t.device, t.problem]} label={t.errors}>
          {errors.map(({ line, controllerId, message }) => (
            <tr key={line}>
              <td className="num">{line}</td>
              <td className="mono">{controllerId}</td>
              <td>{message}</td>
            </tr>
          ))}
        </Table>
      </Scroll>
      {failed > errors.length && <p className="muted">{t.more(failed - errors.length)}</p>}
    </>
  );
}
