/** @file Registers the commands that check: plan, inspect, doctor. */
import { addFlags, parseFlags } from '../command-flags.js';
import { DOCTOR_HELP, INSPECT_HELP, PLAN_HELP } from '../help-texts.js';
import type { AddCommands } from './command-parts.js';

const inspectFlags = async () => (await import('../inspect-options.js')).inspectFlags;
const planFlags = async () => (await import('../plan-options.js')).planFlags;

const doctorFlags = async () => (await import('../flags.js')).outputSchema;

export const addCheckCommands: AddCommands = (program, { io, setExit }) => {
  addFlags(program.command('plan').description('Tell what a table will take, before there is one.'), planFlags)
    .addHelpText('after', PLAN_HELP)
    .action(async (raw: unknown) => {
      const flags = await parseFlags(planFlags, raw, 'plan');
      const { runPlanCommand } = await import('../plan-command.js');
      setExit(runPlanCommand(flags, io));
    });

  addFlags(program.command('inspect').description('Show what a checkpoint holds.'), inspectFlags)
    .argument('<checkpoint>', 'model directory, checkpoint like DIR/model.ckpt-100, table, or file of a table')
    .addHelpText('after', INSPECT_HELP)
    .action(async (path: string, raw: unknown) => {
      const flags = await parseFlags(inspectFlags, raw, 'inspect');
      const { runInspectCommand } = await import('../inspect-command.js');
      setExit(await runInspectCommand(path, flags, io));
    });

  addFlags(program.command('doctor').description('Check that training works on this machine.'), doctorFlags)
    .addHelpText('after', DOCTOR_HELP)
    .action(async (raw: unknown) => {
      const flags = await parseFlags(doctorFlags, raw, 'doctor');
      const { runDoctorCommand } = await import('../doctor.js');
      setExit(await runDoctorCommand(flags, io));
    });
};
