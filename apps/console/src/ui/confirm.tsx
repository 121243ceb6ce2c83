import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog } from "@base-ui/react/dialog";
import { type FormEvent, type ReactNode, useState } from "react";
import { dialogs as t } from "../text/en.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Field } from "./field.tsx";
import style from "./overlay.module.css";
import { Refusal } from "./states.tsx";

interface ConfirmProps {
  readonly title: string;
  /** What will happen, to how many. */
  readonly text: ReactNode;
  readonly button: string;
  readonly trigger: ReactNode;
  readonly look?: ButtonProps["look"];
  readonly why?: string | undefined;
  /** What must be typed before the button works, where a slip would cost much. */
  readonly typed?: string | undefined;
  readonly run: () => Promise<unknown>;
  readonly small?: boolean;
}

/** A button that asks before it acts, says what it will do, and stays open with the server's words if it is refused. */
export function Confirm({ title, text, button, trigger, look, why, typed, run, small }: ConfirmProps) {
  const [open, setOpen] = useState(false);
  const [text2, setText] = useState("");
  const { busy, error, start, reset } = useRun(run, () => setOpen(false));
  const change = (next: boolean) => {
    setOpen(next);
    setText("");
    reset();
  };
  const missing = typed !== undefined && text2 !== typed ? t.typeFirst(typed) : undefined;
  return (
    <AlertDialog.Root open={open} onOpenChange={change}>
      <AlertDialog.Trigger render={<Button look={look} why={why} small={small} />}>{trigger}</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={style["backdrop"]} />
        <AlertDialog.Popup className={style["popup"]}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />}>{text}</AlertDialog.Description>
          {typed !== undefined && <Field label={t.typeToConfirm(typed)} value={text2} onChange={setText} />}
          <Refusal error={error} />
          <div className={style["buttons"]}>
            <AlertDialog.Close render={<Button />}>{t.back}</AlertDialog.Close>
            <Button look={look === "danger" ? "danger" : "primary"} why={busy ? t.asked : missing} onClick={start}>
              {busy ? t.asked : button}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** Runs a change once at a time; a refusal is kept until the next try. */
export function useRun(run: () => Promise<unknown>, then: () => void) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const start = () => {
    setBusy(true);
    setError(undefined);
    run()
      .then(then, setError)
      .finally(() => setBusy(false));
  };
  return { busy, error, start, reset: () => setError(undefined) };
}

interface FormDialogProps {
  readonly title: string;
  readonly text?: ReactNode;
  readonly button: string;
  readonly open: boolean;
  readonly close: () => void;
  readonly why?: string | undefined;
  readonly wide?: boolean;
  readonly run: () => Promise<unknown>;
  readonly children: ReactNode;
}

/** A dialog with a form; it closes when the server has taken it. */
export function FormDialog({ title, text, button, open, close, why, wide, run, children }: FormDialogProps) {
  const { busy, error, start, reset } = useRun(run, close);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (why === undefined && !busy) start();
  };
  const change = (next: boolean) => {
    if (next) return;
    reset();
    close();
  };
  return (
    <Dialog.Root open={open} onOpenChange={change}>
      <Dialog.Portal>
        <Dialog.Backdrop className={style["backdrop"]} />
        <Dialog.Popup className={`${style["popup"]} ${wide ? style["wide"] : ""}`}>
          <Dialog.Title>{title}</Dialog.Title>
          {text !== undefined && <Dialog.Description render={<div className="muted" />}>{text}</Dialog.Description>}
          <form className={style["form"]} onSubmit={submit}>
            {children}
            <Refusal error={error} />
            <div className={style["buttons"]}>
              <Dialog.Close render={<Button />}>{t.back}</Dialog.Close>
              <Button look="primary" type="submit" why={busy ? t.asked : why}>
                {busy ? t.asked : button}
              </Button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
