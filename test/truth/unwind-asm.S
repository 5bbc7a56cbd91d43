// SPDX-License-Identifier: GPL-2.0-or-later
// by_hand(call): calls through three functions that only their frame information describes.
	.text
	.globl	by_hand
	.type	by_hand, %function
	.type	realigned, %function
	.type	expressed, %function
#ifdef __x86_64__
// CFA from rbx, the stack pointer moves about.
by_hand:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	subq	$1000, %rsp
	andq	$-64, %rsp
	call	realigned
	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	popq	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size	by_hand, . - by_hand
// rbx holds something else here: the frame above depends on it being found again. r12 in a register.
realigned:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	movq	$12345, %rbx
	movq	$0, %rbp
	call	expressed
	popq	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	realigned, . - realigned
// The CFA lies in memory: an expression.
expressed:
	.cfi_startproc
	leaq	8(%rsp), %rax
	subq	$136, %rsp
	.cfi_adjust_cfa_offset 136
	movq	%rax, 16(%rsp)
	// DW_CFA_def_cfa_expression: breg7 16; deref
	.cfi_escape 0x0f, 3, 0x77, 16, 0x06
	call	*%rdi
	addq	$136, %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	expressed, . - expressed
	.globl	undescribed
	.type	undescribed, %function
undescribed:
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	movq	%rdi, %rbp
1:	decq	%rbp
	jnz	1b
	popq	%r13
	popq	%r12
	popq	%rbp
	ret
	.size	undescribed, . - undescribed
// Where it goes to in the end its instructions don't tell.
	.globl	untold
	.type	untold, %function
untold:
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	$6
	pushq	$0
1:	decq	%rdi
	jnz	1b
	leave
	popq	%rcx
	jmp	*%rcx
	.size	untold, . - untold
#elif defined(__aarch64__)
by_hand:
	.cfi_startproc
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	str	x19, [sp, 16]
	.cfi_offset 19, -16
	mov	x19, sp
	.cfi_def_cfa_register 19
	sub	sp, sp, 512
	bl	realigned
	mov	sp, x19
	.cfi_def_cfa_register 31
	ldr	x19, [sp, 16]
	ldp	x29, x30, [sp], 32
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	by_hand, . - by_hand
realigned:
	.cfi_startproc
	stp	x19, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 19, -16
	.cfi_offset 30, -8
	mov	x19, 12345
	bl	expressed
	ldp	x19, x30, [sp], 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	realigned, . - realigned
expressed:
	.cfi_startproc
	mov	x9, sp
	sub	sp, sp, 48
	.cfi_def_cfa_offset 48
	str	x30, [sp, 40]
	.cfi_offset 30, -8
	str	x9, [sp, 16]
	// DW_CFA_def_cfa_expression: breg31 16; deref
	.cfi_escape 0x0f, 3, 0x8f, 16, 0x06
	blr	x0
	ldr	x30, [sp, 40]
	add	sp, sp, 48
	.cfi_def_cfa 31, 0
	ret
	.cfi_endproc
	.size	expressed, . - expressed
	.globl	undescribed
	.type	undescribed, %function
undescribed:
	stp	x29, x30, [sp, -16]!
	mov	x29, sp
1:	subs	x0, x0, 1
	b.ne	1b
	ldp	x29, x30, [sp], 16
	ret
	.size	undescribed, . - undescribed
	.globl	untold
	.type	untold, %function
untold:
	stp	x29, x30, [sp, -16]!
	mov	x29, sp
1:	subs	x0, x0, 1
	b.ne	1b
	ldp	x29, x30, [sp], 16
	ret
	.size	untold, . - untold
#endif
	.section .note.GNU-stack, "", %progbits
